// Tables that compare: devices, number formats, verdicts, history.
#include <fmt/format.h>

#include <cmath>

#include "base/duration.hpp"
#include "report/figures/figures.hpp"
#include "report/html/markup.hpp"
#include "report/html/sections.hpp"
#include "report/human_units.hpp"
#include "report/xml_text.hpp"

namespace trilobite::html {
namespace {

std::string device_cell(const ComparisonGroup& group, const DeviceEntry* entry,
                        const std::string& baseline) {
  if (entry == nullptr) return number_cell(NAN, "");
  if (entry->status != Status::ok) {
    return fmt::format("<td data-v=\"\" class=\"small\" title=\"{}\">{}</td>",
                       xml_text(entry->reason), name_of(entry->status));
  }
  const bool wins = group.outcome == Outcome::winner && group.fastest == entry->device;
  auto html = fmt::format("<span{}>{}</span>", wins ? " class=\"win\"" : "",
                          xml_text(human_time(entry->median_ns)));
  if (entry->speedup && entry->device != baseline) {
    html += fmt::format("<br><span class=\"small\">{} ({})</span>",
                        human_ratio(entry->speedup->value), human_ratios(entry->speedup->ci95));
  }
  return number_cell(entry->median_ns, html);
}

std::string comparison_row(const ReportData& data, const ComparisonGroup& group) {
  const auto& any = data.joined.benchmarks[data.index.at(group.entries.front().id)];
  auto row = "<tr>" + text_cell(code(fmt::format("{}/{} {} {}", any.suite, any.operation, any.dtype,
                                                 case_of(group))));
  row += text_cell(xml_text(
      group.outcome == Outcome::winner ? group.fastest : std::string(name_of(group.outcome))));
  for (const auto& device : data.comparison.devices)
    row += device_cell(group, entry_of(group, device), data.comparison.baseline);
  return row + "</tr>\n";
}

std::string notes_of(const Comparison& comparison) {
  std::string text;
  for (const auto& note : comparison.notes)
    text += fmt::format("<p class=\"note\">Note: {}.</p>", xml_text(note));
  return text;
}

std::string figure_cell(const BenchmarkResult& result, const char* name, const char* format) {
  const auto found = result.figures.find(name);
  if (found == result.figures.end() || std::isnan(found->second)) return number_cell(NAN, "");
  // Infinite accuracy sorts above every other.
  if (std::isinf(found->second)) return number_cell(1e308, "exact");
  return number_cell(found->second, fmt::format(fmt::runtime(format), found->second));
}

std::string level_style(verdict::Answer answer) {
  switch (answer) {
    case verdict::Answer::regressed: return "bad-text";
    case verdict::Answer::improved: return "good-text";
    case verdict::Answer::undecided: return "doubt-text";
    case verdict::Answer::equivalent: break;
  }
  return "";
}

}  // namespace

std::string comparison_section(const ReportData& data) {
  SortableTable table{.label = "Devices side by side", .headers = {{"case"}, {"fastest", true}}};
  for (const auto& device : data.comparison.devices) table.headers.push_back({device});
  for (const auto& group : data.comparison.groups) {
    if (group.entries.size() > 1) table.rows.push_back(comparison_row(data, group));
  }
  if (table.rows.empty()) return "";
  return fmt::format(
             "<p class=\"lead\">Median time, and in brackets the 95 % interval of the speed-up "
             "over "
             "<bdi>{}</bdi>. Green: the fastest beyond doubt.</p>",
             xml_text(data.comparison.baseline)) +
         notes_of(data.comparison) + to_html(table) + to_html(figures::speedups(data));
}

std::string accuracy_section(const ReportData& data) {
  SortableTable table{.label = "Accuracy and speed of number formats",
                      .headers = {{"format"},
                                  {"operation", true},
                                  {"bits per weight"},
                                  {"memory saved"},
                                  {"SNR"},
                                  {"RMSE"},
                                  {"median"}}};
  for (const auto* result : measured_results(data)) {
    if (!result->figures.contains("snr_db")) continue;
    table.rows.push_back(fmt::format(
        "<tr data-k=\"{}\">{}{}{}{}{}{}{}</tr>\n", data.facets.of(*result),
        text_cell(code(result->dtype)),
        text_cell(
            xml_text(fmt::format("{} {} {}", result->operation, result->shape, result->device))),
        figure_cell(*result, "bits_per_weight", "{:.2f}"),
        figure_cell(*result, "memory_reduction", "{:.2f}x"),
        figure_cell(*result, "snr_db", "{:.1f} dB"), figure_cell(*result, "rmse", "{:.2e}"),
        number_cell(result->statistics->median, xml_text(human_time(result->statistics->median)))));
  }
  if (table.rows.empty()) return "";
  return "<p class=\"lead\">What each number format costs in accuracy, and what its conversion "
         "costs "
         "in time. The best are at the upper left.</p>" +
         to_html(figures::accuracy(data)) + to_html(table);
}

std::string regression_section(const ReportData& data) {
  if (!data.regression) return "";
  SortableTable table{.label = "Verdicts",
                      .headers = {{"benchmark"},
                                  {"metric", true},
                                  {"answer", true},
                                  {"worse by"},
                                  {"95 %", true},
                                  {"note", true}}};
  for (const auto& verdict : data.regression->verdicts) {
    table.rows.push_back(fmt::format(
        "<tr>{}{}<td class=\"text {}\">{}</td>{}{}{}</tr>\n",
        text_cell(link_to(data, verdict.benchmark)), text_cell(xml_text(verdict.metric)),
        level_style(verdict.answer), verdict::name_of(verdict.level),
        number_cell(verdict.change, human_change(verdict.change)),
        text_cell(fmt::format("{} to {}", human_change(verdict.interval.low),
                              human_change(verdict.interval.high))),
        text_cell(xml_text(verdict.note))));
  }
  std::string remarks;
  for (const auto& problem : data.regression->problems)
    remarks += fmt::format("<li class=\"bad\">{}: {}</li>", code(problem.benchmark),
                           xml_text(problem.what));
  for (const auto& remark : data.regression->remarks)
    remarks += fmt::format("<li>{}</li>", xml_text(remark));
  return fmt::format("<p class=\"lead\">{}, compared with <bdi>{}</bdi>.</p>",
                     verdict::name_of(data.regression->status),
                     xml_text(data.regression->baseline_name)) +
         to_html(figures::regression(data)) + to_html(table) +
         (remarks.empty() ? "" : "<ul class=\"findings\">" + remarks + "</ul>");
}

std::string history_section(const ReportData& data) {
  if (data.trends.empty()) return "";
  SortableTable table{
      .label = "Change points",
      .headers = {
          {"benchmark"}, {"since", true}, {"commit", true}, {"change"}, {"95 %", true}, {"p"}}};
  for (const auto& trend : data.trends) {
    for (const auto& change : trend.changes) {
      const auto& point = change.change;
      table.rows.push_back(
          fmt::format("<tr>{}{}{}{}{}{}</tr>\n", text_cell(code(trend.series.name)),
                      text_cell(xml_text(change.first.time)),
                      text_cell(code(change.first.commit.substr(0, 12))),
                      number_cell(point.change, human_change(point.change)),
                      text_cell(fmt::format("{} to {}", human_change(point.interval.low),
                                            human_change(point.interval.high))),
                      number_cell(point.p_value, fmt::format("{:.2g}", point.p_value))));
    }
  }
  return "<p class=\"lead\">The medians of earlier runs on the same machine, and where their level "
         "changed.</p>" +
         to_html(figures::trends(data)) +
         (table.rows.empty() ? "<p>No change point.</p>" : to_html(table));
}

}  // namespace trilobite::html
