#include "report/ab_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "report/display_text.hpp"
#include "report/human_units.hpp"
#include "report/table.hpp"

namespace trilobite {
namespace {

using verdict::AbVerdict;
using verdict::Answer;

Style style_of(Answer answer) {
  switch (answer) {
    case Answer::regressed: return Style::bad;
    case Answer::improved: return Style::good;
    case Answer::undecided: return Style::doubtful;
    case Answer::equivalent: break;
  }
  return Style::plain;
}

std::string interval_text(const stats::Interval& interval) {
  return fmt::format("{} to {}", human_change(interval.low), human_change(interval.high));
}

size_t count(const AbReport& report, Answer answer) {
  return static_cast<size_t>(std::ranges::count(report.verdicts, answer, &AbVerdict::answer));
}

Json json_of(const stats::Interval& interval) {
  return {number_or_null(interval.low), number_or_null(interval.high)};
}

}  // namespace

std::string ab_table(const AbReport& report, size_t width, bool color) {
  std::string text = fmt::format("candidate {} against base {}\n", printable(report.candidate),
                                 printable(report.base));
  Table table{{{"benchmark", true, 9},
               {"answer", true, 9},
               {"change", false, 9},
               {"99 % at any time", true, 7},
               {"CPU time", false, 4},
               {"control", false, 5},
               {"units", false, 2},
               {"", true, 6}},
              {}};
  for (const auto& verdict : report.verdicts) {
    const auto style = style_of(verdict.answer);
    table.rows.push_back({{printable(verdict.benchmark)},
                          {std::string(verdict::name_of(verdict.answer)), style},
                          {human_change(verdict.change), style},
                          {interval_text(verdict.interval)},
                          {human_change(verdict.change_cpu)},
                          {human_change(verdict.control_change)},
                          {fmt::format("{}", verdict.units)},
                          {verdict.confirmed ? "confirmed" : printable(verdict.note)}});
  }
  if (!table.rows.empty()) text += render(table, width, color);
  for (const auto& problem : report.problems)
    text += fmt::format("{}: {}\n", printable(problem.benchmark), printable(problem.what));
  return text + fmt::format(
                    "{} regressed, {} improved, {} equivalent, {} undecided, {} problem{}; "
                    "{:.1f} s, {} of the CPU time stolen\n",
                    count(report, Answer::regressed), count(report, Answer::improved),
                    count(report, Answer::equivalent), count(report, Answer::undecided),
                    report.problems.size(), report.problems.size() == 1 ? "" : "s", report.seconds,
                    human_percent(report.steal_share));
}

std::string ab_json(const AbReport& report) {
  Json verdicts = Json::array();
  for (const auto& verdict : report.verdicts) {
    verdicts.push_back({{"benchmark", valid_utf8(verdict.benchmark)},
                        {"answer", verdict::name_of(verdict.answer)},
                        {"change", number_or_null(verdict.change)},
                        {"interval", json_of(verdict.interval)},
                        {"e_value", number_or_null(verdict.e_value)},
                        {"change_cpu", number_or_null(verdict.change_cpu)},
                        {"control_change", number_or_null(verdict.control_change)},
                        {"control_interval", json_of(verdict.control_interval)},
                        {"control_fired", verdict.control_fired},
                        {"confirmed", verdict.confirmed},
                        {"units", verdict.units},
                        {"generations", verdict.generations},
                        {"design_effect", number_or_null(verdict.design_effect)},
                        {"by_generation", verdict.by_generation},
                        {"note", valid_utf8(verdict.note)}});
  }
  Json problems = Json::array();
  for (const auto& problem : report.problems)
    problems.push_back(
        {{"benchmark", valid_utf8(problem.benchmark)}, {"what", valid_utf8(problem.what)}});
  const Json json{{"schema", "trilobite.ab/1"},
                  {"base", valid_utf8(report.base)},
                  {"candidate", valid_utf8(report.candidate)},
                  {"seconds", report.seconds},
                  {"steal_share", number_or_null(report.steal_share)},
                  {"verdicts", std::move(verdicts)},
                  {"problems", std::move(problems)}};
  return json_document(json);
}

}  // namespace trilobite
