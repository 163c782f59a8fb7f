#include "cli/trend_history.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <regex>
#include <set>

namespace trilobite::cli {
namespace {

using Key = std::pair<std::string, std::string>;  // benchmark, fingerprint

/// Runs are rows, numbered over the whole store, so that series of the same runs line up.
std::map<Key, verdict::Series> series_by_machine(const std::vector<store::HistoryPoint>& points) {
  std::map<std::pair<std::string, std::string>, size_t> rows;  // by time, then id
  for (const auto& point : points) rows.try_emplace({point.started_at, point.run_id}, 0);
  size_t next = 0;
  for (auto& [run, row] : rows) row = next++;
  std::map<Key, verdict::Series> all;
  for (const auto& point : points) {
    auto& series = all[{point.benchmark, point.fingerprint}];
    series.unit = "ns";
    series.points.push_back({.index = rows.at({point.started_at, point.run_id}),
                             .value = point.median_ns,
                             .time = point.started_at,
                             .commit = point.commit});
  }
  std::map<std::string, size_t> machines;
  for (const auto& [key, series] : all) ++machines[key.first];
  for (auto& [key, series] : all)
    series.name =
        machines[key.first] == 1 ? key.first : fmt::format("{} @{}", key.first, key.second);
  return all;
}

}  // namespace

Result<std::vector<verdict::Trend>> trends_in(store::History& history,
                                              const TrendSelection& selection,
                                              const verdict::ChangePointSettings& settings) {
  std::optional<std::regex> pattern;
  try {
    pattern.emplace(selection.pattern);
  } catch (const std::regex_error&) {
    return fail(fmt::format("'{}' is not a regular expression", selection.pattern));
  }
  const auto points = history.medians();
  if (!points) return fail_from(points);
  const auto all = series_by_machine(*points);
  std::vector<verdict::Trend> trends;
  bool control_seen = selection.control.empty();
  for (const auto& [key, series] : all) {
    control_seen |= key.first == selection.control;
    if (!std::regex_search(key.first, *pattern)) continue;
    const auto control = all.find({selection.control, key.second});
    trends.push_back(verdict::analyse_trend(
        series, control == all.end() ? nullptr : &control->second, settings));
  }
  if (!control_seen)
    return fail(fmt::format("--control: the store {} has no benchmark '{}'", history.name(),
                            selection.control));
  if (trends.empty()) {
    return fail(fmt::format("no benchmark of the store {} matches '{}'", history.name(),
                            selection.pattern));
  }
  return trends;
}

}  // namespace trilobite::cli
