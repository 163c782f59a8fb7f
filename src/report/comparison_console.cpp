#include <fmt/format.h>

#include <algorithm>

#include "base/duration.hpp"
#include "report/comparison.hpp"
#include "report/console_summary.hpp"
#include "report/display_text.hpp"
#include "report/human_units.hpp"
#include "report/table.hpp"

namespace trilobite {
namespace {

/// "*1.23 ms   1.30x": the speed-up against the baseline; '~' when its interval holds 1.
std::string entry_text(const ComparisonGroup& group, const DeviceEntry* entry,
                       const DeviceEntry* baseline) {
  if (entry == nullptr) return "";
  if (entry->status != Status::ok) return std::string(name_of(entry->status));
  std::string speedup;
  if (entry->speedup) {
    const auto& ci = entry->speedup->ci95;
    const bool enough = supports_95_percent(std::min(entry->samples, baseline->samples));
    const bool sure = entry == baseline || (enough && (ci.low > 1 || ci.high < 1));
    speedup = (sure ? "" : "~") + human_ratio(entry->speedup->value);
  }
  const bool wins = group.outcome == Outcome::winner && group.fastest == entry->device;
  const auto time = (wins ? "*" : "") + human_time(entry->median_ns);
  return speedup.empty() ? time : fmt::format("{} {:>7}", time, speedup);
}

std::string verdict_text(const ComparisonGroup& group) {
  if (group.outcome == Outcome::winner) return printable(group.fastest);
  return std::string(name_of(group.outcome));
}

Table table_of(const Comparison& comparison) {
  Table table;
  table.columns = {{.header = "case", .left_aligned = true},
                   {.header = "fastest", .left_aligned = true, .importance = 1000}};
  for (size_t i = 0; i < comparison.devices.size(); ++i) {
    table.columns.push_back({.header = printable(comparison.devices[i]),
                             .importance = static_cast<unsigned>(999 - std::min(i, size_t{998}))});
  }
  std::string heading;
  for (const auto& group : comparison.groups) {
    const auto name = printable(group.suite + "/" + group.operation + " " + group.dtype);
    if (name != heading) table.rows.push_back({{name, Style::heading}});
    heading = name;
    const bool wins = group.outcome == Outcome::winner;
    Row row = {{"  " + printable(case_of(group))},
               {verdict_text(group), wins ? Style::good : Style::quiet}};
    const auto* baseline = entry_of(group, comparison.baseline);
    for (const auto& device : comparison.devices) {
      row.push_back({entry_text(group, entry_of(group, device), baseline),
                     wins && device == group.fastest ? Style::good : Style::plain});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string to_console(const Comparison& comparison, ConsoleOptions options) {
  std::string text = paragraph(
      fmt::format("{}, {}, {} thread{}; speed-ups against {}", printable(comparison.run_id),
                  printable(comparison.cpu), comparison.threads, comparison.threads == 1 ? "" : "s",
                  printable(comparison.baseline)),
      Style::plain, options);
  if (!comparison.groups.empty()) {
    const auto table = table_of(comparison);
    text += "\n" + render(table, options.width, options.color) + "\n";
    text += paragraph("*: fastest beyond doubt (95 %); ~: not told apart from the baseline",
                      Style::quiet, options);
    if (const auto missing = left_out(table, options.width); !missing.empty()) {
      text += paragraph(fmt::format("no room for {}", fmt::join(missing, ", ")), Style::doubtful,
                        options);
    }
  }
  for (const auto& note : comparison.notes) {
    text += paragraph("note: " + printable(note), Style::doubtful, options);
  }
  if (!comparison.recommendations.empty()) text += "\n";
  for (const auto& advice : comparison.recommendations) {
    text +=
        paragraph(printable(advice.text), advice.decisive ? Style::good : Style::plain, options);
  }
  return text + warnings_to_console(comparison.warnings, options);
}

}  // namespace trilobite
