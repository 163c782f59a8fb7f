#include "report/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/duration.hpp"
#include "report/accuracy_table.hpp"
#include "report/console_summary.hpp"
#include "report/display_text.hpp"
#include "report/human_units.hpp"
#include "report/table.hpp"
#include "stats/describe.hpp"

namespace trilobite {
namespace {

constexpr std::ptrdiff_t kQuietColumn = 4;  // behind the spread

std::vector<Column> columns(bool quiet) {
  std::vector<Column> all{{.header = "benchmark", .left_aligned = true},
                          {.header = "median", .importance = 9},
                          {.header = "\u00B195 %", .importance = 5},
                          {.header = "spread", .importance = 2},
                          {.header = "throughput", .importance = 4},
                          {.header = "of limit", .left_aligned = true, .importance = 3},
                          {.header = "memory", .importance = 1},
                          // Doubts about a number are dropped last, together with the number.
                          {.header = "notes", .left_aligned = true, .importance = 8}};
  if (quiet) all.insert(all.begin() + kQuietColumn, {.header = "quiet", .importance = 6});
  return all;
}

std::string notes_of(const BenchmarkResult& result) {
  const auto& outliers = result.statistics->outliers;
  const auto outlying =
      outliers.low_severe + outliers.low_mild + outliers.high_mild + outliers.high_severe;
  std::string notes;
  const auto add = [&](const std::string& note) { notes += (notes.empty() ? "" : " ") + note; };
  if (!supports_95_percent(result.samples_ns.size()))
    add(fmt::format("n={}", result.samples_ns.size()));
  if (result.disturbance.kept > 0) add(fmt::format("{}d", result.disturbance.kept));
  if (result.disturbance.retaken > 0) add(fmt::format("{}r", result.disturbance.retaken));
  if (outlying > 0) add(fmt::format("{}o", outlying));
  return notes;
}

/// Names in the table leave out what the group's heading says.
std::string name_in_group(const BenchmarkResult& result) {
  const auto group = result.suite + "/" + result.operation + "/";
  const std::string_view id = result.id;
  return "  " + printable(id.starts_with(group) ? id.substr(group.size()) : id);
}

Row row_of(const BenchmarkResult& result, bool quiet) {
  const Cell name{name_in_group(result), Style::plain};
  if (result.status != Status::ok || !result.statistics) {
    const bool wrong = result.status == Status::failed || result.status == Status::timeout;
    const auto style = wrong ? Style::bad : Style::quiet;
    const auto reason = result.reason.empty() ? "" : ": " + printable(result.reason);
    return {{name.text, style}, {fmt::format("{}{}", outcome_word(result), reason), style}};
  }
  const auto& s = *result.statistics;
  const double half_width = (s.median_ci95.high - s.median_ci95.low) / 2 / s.median;
  const auto doubt = result.disturbance.kept > 0 || !supports_95_percent(result.samples_ns.size())
                         ? Style::doubtful
                         : Style::quiet;
  Row row{name,
          {human_time(s.median), Style::heading},
          {human_percent(half_width)},
          {human_percent(stats::kMadToSigma * s.mad / s.median)},
          {fitting_throughput(result)},
          {short_limit(result)},
          {result.memory ? human_bytes(static_cast<double>(result.memory->allocated_bytes)) : ""},
          {notes_of(result), doubt}};
  if (quiet) {
    row.insert(row.begin() + kQuietColumn, {result.quiet ? human_time(result.quiet->best_ns) : ""});
  }
  return row;
}

/// Benchmarks of one suite and operation under one heading, groups in the order of the record.
Table table_of(const RunRecord& record) {
  std::map<std::string, std::vector<const BenchmarkResult*>> members;
  std::vector<std::string> order;
  for (const auto& result : record.benchmarks) {
    auto& group = members[result.suite + "/" + result.operation];
    if (group.empty()) order.push_back(result.suite + "/" + result.operation);
    group.push_back(&result);
  }
  const bool quiet = has_quiet_times(record);
  Table table{.columns = columns(quiet), .rows = {}};
  for (const auto& group : order) {
    table.rows.push_back({{printable(group), Style::heading}});
    for (const auto* result : members[group]) table.rows.push_back(row_of(*result, quiet));
  }
  return table;
}

}  // namespace

std::string to_console(const RunRecord& record, ConsoleOptions options) {
  std::string text = run_heading(record, options);
  if (record.benchmarks.empty()) {
    return text + "no benchmarks ran\n" + warnings_to_console(record.warnings, options);
  }
  text += "\n" + render(table_of(record), options.width, options.color) + "\n";
  text += legend(record, options);
  if (const auto accuracy = accuracy_table(record); !accuracy.rows.empty()) {
    text += "\n" + render(accuracy, options.width, options.color) + "\n";
  }
  text += counts_and_failures(record, options);
  return text + warnings_to_console(record.warnings, options);
}

}  // namespace trilobite
