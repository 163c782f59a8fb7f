#include "report/regression_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/duration.hpp"
#include "base/json.hpp"
#include "report/display_text.hpp"
#include "report/human_units.hpp"
#include "report/markdown_text.hpp"
#include "report/table.hpp"
#include "report/xml_text.hpp"

namespace trilobite {
namespace {

using verdict::Answer;
using verdict::Level;
using verdict::MetricVerdict;
using verdict::RegressionReport;

std::string value_text(double value, const std::string& unit) {
  if (unit == "ns") return human_time(value);
  if (unit == "bytes") return human_bytes(value);
  if (unit == "1/s") return human_rate(value, "/s");
  return fmt::format("{:.4g}", value);
}

Style style_of(Level level) {
  switch (level) {
    case Level::critical: return Style::bad;
    case Level::warning:
    case Level::undecided: return Style::doubtful;
    case Level::improvement: return Style::good;
    case Level::stable: break;
  }
  return Style::plain;
}

std::string interval_text(const MetricVerdict& verdict) {
  if (verdict.interval.width() == 0) return "";
  return fmt::format("{} to {}", human_change(verdict.interval.low),
                     human_change(verdict.interval.high));
}

std::string note_of(const MetricVerdict& verdict) {
  if (verdict.answer != Answer::undecided) return verdict.note;
  if (verdict.further_runs > 0)
    return fmt::format("{}; about {} more run{} decide{}", verdict.note, verdict.further_runs,
                       verdict.further_runs == 1 ? "" : "s", verdict.further_runs == 1 ? "s" : "");
  if (verdict.further_samples > 0)
    return fmt::format("{}; {} more samples decide", verdict.note, verdict.further_samples);
  return verdict.note;
}

/// Worst first; what is equivalent comes last.
std::vector<const MetricVerdict*> by_importance(const RegressionReport& report) {
  std::vector<const MetricVerdict*> order;
  for (const auto& verdict : report.verdicts) order.push_back(&verdict);
  std::ranges::stable_sort(order, {}, [](const MetricVerdict* verdict) {
    constexpr std::array<int, 5> kRank{0, 1, 2, 4, 3};  // of Level
    return kRank[static_cast<size_t>(verdict->level)];
  });
  return order;
}

std::string summary(const RegressionReport& report) {
  return fmt::format("{}: {} regressed, {} improved, {} equivalent, {} undecided, {} problem{}",
                     verdict::name_of(report.status), report.count(Answer::regressed),
                     report.count(Answer::improved), report.count(Answer::equivalent),
                     report.count(Answer::undecided), report.problems.size(),
                     report.problems.size() == 1 ? "" : "s");
}

std::string junit_outcome(const MetricVerdict& verdict) {
  const auto text = xml_text(fmt::format(
      "{} {}: {} -> {}, {} ({}), {}", verdict::name_of(verdict.level), verdict.metric,
      value_text(verdict.baseline, verdict.unit), value_text(verdict.current, verdict.unit),
      human_change(verdict.change), interval_text(verdict), note_of(verdict)));
  if (verdict.answer == Answer::regressed)
    return fmt::format("<failure type=\"{}\" message=\"{}\"/>", verdict::name_of(verdict.level),
                       text);
  if (verdict.answer == Answer::undecided) return fmt::format("<skipped message=\"{}\"/>", text);
  return fmt::format("<system-out>{}</system-out>", text);
}

}  // namespace

std::string regression_table(const RegressionReport& report, size_t width, bool color) {
  std::string text = fmt::format("{} against {}\n", printable(report.current_name),
                                 printable(report.baseline_name));
  Table table{{{"benchmark", true, 9},
               {"metric", true, 8},
               {"level", true, 9},
               {"baseline", false, 5},
               {"current", false, 6},
               {"worse by", false, 9},
               {"95 %", true, 7},
               {"", true, 4}},
              {}};
  for (const auto* verdict : by_importance(report)) {
    const auto style = style_of(verdict->level);
    table.rows.push_back({{printable(verdict->benchmark)},
                          {printable(verdict->metric)},
                          {std::string(verdict::name_of(verdict->level)), style},
                          {value_text(verdict->baseline, verdict->unit)},
                          {value_text(verdict->current, verdict->unit)},
                          {human_change(verdict->change), style},
                          {interval_text(*verdict)},
                          {printable(note_of(*verdict))}});
  }
  if (!table.rows.empty()) text += render(table, width, color);
  for (const auto& problem : report.problems)
    text += fmt::format("{} {}\n", printable(problem.benchmark), printable(problem.what));
  for (const auto& remark : report.remarks) text += fmt::format("note: {}\n", printable(remark));
  return text + styled(summary(report), Style::heading, color) + "\n";
}

std::string regression_json(const RegressionReport& report) {
  Json verdicts = Json::array();
  for (const auto& verdict : report.verdicts) {
    verdicts.push_back(
        {{"benchmark", valid_utf8(verdict.benchmark)},
         {"metric", valid_utf8(verdict.metric)},
         {"unit", verdict.unit},
         {"answer", verdict::name_of(verdict.answer)},
         {"level", verdict::name_of(verdict.level)},
         {"baseline", number_or_null(verdict.baseline)},
         {"current", number_or_null(verdict.current)},
         {"change", number_or_null(verdict.change)},
         {"change_interval",
          {number_or_null(verdict.interval.low), number_or_null(verdict.interval.high)}},
         {"p_value", number_or_null(verdict.p_value)},
         {"further_samples", verdict.further_samples},
         {"further_runs", verdict.further_runs},
         {"note", valid_utf8(verdict.note)}});
  }
  Json problems = Json::array();
  for (const auto& problem : report.problems) {
    problems.push_back({{"benchmark", valid_utf8(problem.benchmark)},
                        {"what", valid_utf8(problem.what)},
                        {"failure", problem.failure}});
  }
  Json remarks = Json::array();
  for (const auto& remark : report.remarks) remarks.push_back(valid_utf8(remark));
  const Json json{{"schema", "trilobite.regression/1"},
                  {"status", verdict::name_of(report.status)},
                  {"baseline", valid_utf8(report.baseline_name)},
                  {"current", valid_utf8(report.current_name)},
                  {"summary",
                   {{"regressed", report.count(Answer::regressed)},
                    {"improved", report.count(Answer::improved)},
                    {"equivalent", report.count(Answer::equivalent)},
                    {"undecided", report.count(Answer::undecided)},
                    {"problems", report.problems.size()}}},
                  {"verdicts", std::move(verdicts)},
                  {"problems", std::move(problems)},
                  {"remarks", std::move(remarks)}};
  return json_document(json);
}

std::string regression_junit(const RegressionReport& report) {
  const auto failures = report.count(Answer::regressed);
  const auto cases = report.verdicts.size() + report.problems.size();
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite "
      "name=\"regression-check {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
      xml_text(report.baseline_name), cases, failures, report.problems.size(),
      report.count(Answer::undecided));
  for (const auto& verdict : report.verdicts) {
    text +=
        fmt::format("<testcase classname=\"{}\" name=\"{}\">{}</testcase>\n",
                    xml_text(verdict.benchmark), xml_text(verdict.metric), junit_outcome(verdict));
  }
  for (const auto& problem : report.problems) {
    text += fmt::format(
        "<testcase classname=\"{}\" name=\"result\"><error message=\"{}\"/></testcase>\n",
        xml_text(problem.benchmark), xml_text(problem.what));
  }
  return text + "</testsuite>\n</testsuites>\n";
}

std::string regression_markdown(const RegressionReport& report) {
  std::string text =
      fmt::format("## {}\n\n{} against {}\n\n", markdown_text(summary(report)),
                  markdown_text(report.current_name), markdown_text(report.baseline_name));
  text += markdown_row(
      {"benchmark", "metric", "level", "baseline", "current", "worse by", "95 %", "note"});
  text += "|---|---|---|---:|---:|---:|---|---|\n";
  for (const auto* verdict : by_importance(report)) {
    text +=
        markdown_row({markdown_text(verdict->benchmark), markdown_text(verdict->metric),
                      std::string(verdict::name_of(verdict->level)),
                      markdown_text(value_text(verdict->baseline, verdict->unit)),
                      markdown_text(value_text(verdict->current, verdict->unit)),
                      markdown_text(human_change(verdict->change)),
                      markdown_text(interval_text(*verdict)), markdown_text(note_of(*verdict))});
  }
  for (const auto& problem : report.problems)
    text +=
        fmt::format("\n- {}: {}", markdown_text(problem.benchmark), markdown_text(problem.what));
  for (const auto& remark : report.remarks) text += fmt::format("\n- {}", markdown_text(remark));
  return text + "\n";
}

}  // namespace trilobite
