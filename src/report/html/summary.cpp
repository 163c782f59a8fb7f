// The first screen: counts, findings; and the recommendations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/findings.hpp"
#include "report/html/markup.hpp"
#include "report/html/sections.hpp"
#include "report/human_units.hpp"
#include "report/xml_text.hpp"

namespace trilobite::html {
namespace {

constexpr size_t kEvidenceShown = 4;
// The rest is folded, so that the sections below stay in reach.
constexpr size_t kDoubtsShown = 4;
constexpr size_t kAdviceShown = 8;

std::string_view style_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::best:
    case FindingKind::target_met: return "good";
    case FindingKind::worst:
    case FindingKind::target_missed: return "bad";
    case FindingKind::doubt: return "doubt";
    case FindingKind::fact: break;
  }
  return "fact";
}

std::string links(const ReportData& data, const std::vector<std::string>& ids) {
  if (ids.empty()) return "";
  std::string text = "<span class=\"evidence\">";
  for (size_t i = 0; i < std::min(ids.size(), kEvidenceShown); ++i)
    text += (i == 0 ? "" : ", ") + link_to(data, ids[i]);
  if (ids.size() > kEvidenceShown) text += fmt::format(" and {} more", ids.size() - kEvidenceShown);
  return text + "</span>";
}

/// The first `shown` items; the others behind "3 more doubts".
std::string folded_list(const std::vector<std::string>& items, size_t shown,
                        std::string_view noun) {
  std::string text = "<ul class=\"findings\">\n";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i == shown)
      text += fmt::format(
          "</ul>\n<details class=\"more\"><summary>{}</summary><ul class=\"findings\">\n",
          counted(items.size() - i, noun));
    text += items[i];
  }
  return text + (items.size() > shown ? "</ul></details>\n" : "</ul>\n");
}

std::string card(std::string_view value, std::string_view label) {
  return fmt::format("<li><b>{}</b><span>{}</span></li>", xml_text(value), xml_text(label));
}

std::string cards(const ReportData& data) {
  const auto count = [&](Status status) {
    return static_cast<size_t>(
        std::ranges::count(data.joined.benchmarks, status, &BenchmarkResult::status));
  };
  size_t samples = 0;
  for (const auto& result : data.joined.benchmarks) samples += result.samples_ns.size();
  const auto wrong = count(Status::failed) + count(Status::timeout);
  const auto measured = measured_results(data).size();
  std::string text =
      card(fmt::to_string(measured), measured == 1 ? "benchmark measured" : "benchmarks measured");
  if (wrong > 0) text += card(fmt::to_string(wrong), "failed or timed out");
  if (const auto skipped = count(Status::skipped); skipped > 0)
    text += card(fmt::to_string(skipped), "skipped, with reason");
  text += card(
      samples < 100'000 ? fmt::to_string(samples) : human_rate(static_cast<double>(samples), ""),
      samples == 1 ? "sample" : "samples");
  text += card(fmt::to_string(data.facets.devices.size()),
               data.facets.devices.size() == 1 ? "device" : "devices");
  if (data.regression) {
    text += card(fmt::to_string(data.regression->count(verdict::Answer::regressed)), "regressed");
  }
  return "<ul class=\"cards\">" + text + "</ul>";
}

std::string_view style_of(TargetOutcome outcome) {
  switch (outcome) {
    case TargetOutcome::met: return "good-text";
    case TargetOutcome::missed: return "bad-text";
    case TargetOutcome::unavailable: break;
  }
  return "small";
}

std::string target_row(const ReportData& data, const Target& target) {
  const auto outcome = outcome_of(target);
  auto remark = xml_text(target.reason);
  if (!target.benchmark.empty())
    remark += (remark.empty() ? "" : ", ") + link_to(data, target.benchmark);
  return fmt::format("<tr><td>{}</td><td class=\"text {}\">{}</td>{}{}{}</tr>\n",
                     xml_text(target.name), style_of(outcome), name_of(outcome),
                     number_cell(target.measured.value_or(NAN), xml_text(measured_text(target))),
                     text_cell(xml_text(wanted_text(target))), text_cell(remark));
}

std::string target_table(const ReportData& data) {
  SortableTable table{.label = "Targets",
                      .headers = {{"target"},
                                  {"outcome", true},
                                  {"measured"},
                                  {"wanted", true},
                                  {"reason or source", true}}};
  for (const auto& target : targets_of(data)) table.rows.push_back(target_row(data, target));
  return table.rows.empty() ? "" : "<h3>Targets</h3>" + to_html(table);
}

}  // namespace

std::string summary_section(const ReportData& data) {
  std::vector<std::string> items;
  size_t doubts = 0;
  for (const auto& finding : findings(data)) {
    doubts += finding.kind == FindingKind::doubt ? 1 : 0;
    items.push_back(fmt::format("<li class=\"{}\"><span class=\"kind\">{}</span>{}{}</li>\n",
                                style_of(finding.kind), name_of(finding.kind),
                                xml_text(finding.text), links(data, finding.evidence)));
  }
  const auto shown = items.size() - doubts + std::min(doubts, kDoubtsShown);
  return cards(data) + folded_list(items, shown, "more doubt") + target_table(data);
}

std::string recommendations_section(const ReportData& data) {
  std::vector<std::string> decisive;
  std::vector<std::string> open;
  for (const auto& advice : data.comparison.recommendations) {
    if (advice.runner_up.empty()) continue;
    (advice.decisive ? decisive : open)
        .push_back(fmt::format("<li class=\"{}\">{}{}</li>\n", advice.decisive ? "good" : "doubt",
                               xml_text(advice.text), links(data, advice.evidence)));
  }
  std::ranges::move(open, std::back_inserter(decisive));
  if (decisive.empty()) return "";
  return "<p class=\"lead\">Which device to use, with the measurements behind each advice.</p>" +
         folded_list(decisive, kAdviceShown, "more recommendation");
}

}  // namespace trilobite::html
