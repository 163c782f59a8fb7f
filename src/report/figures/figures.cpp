#include "report/figures/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/duration.hpp"

namespace trilobite::figures {
namespace {

std::string operation_of(const BenchmarkResult& result) {
  return result.suite + "/" + result.operation;
}

}  // namespace

const std::vector<Figure>& all() {
  static const std::vector<Figure> figures{{"times", times},           {"speedups", speedups},
                                           {"scaling", scaling},       {"roofline", rooflines},
                                           {"accuracy", accuracy},     {"memory", memory},
                                           {"latency", latency},       {"samples", samples},
                                           {"regression", regression}, {"trend", trends}};
  return figures;
}

std::string time_text(const BenchmarkResult& result) {
  const auto& s = *result.statistics;
  return fmt::format("{} (95 %: {} to {})", human_time(s.median), human_time(s.median_ci95.low),
                     human_time(s.median_ci95.high));
}

std::string case_name(const BenchmarkResult& result, bool of_one_type) {
  std::string text = of_one_type ? result.shape : result.dtype + " " + result.shape;
  for (const auto& [name, value] : result.parameters) text += fmt::format(" {}={}", name, value);
  return text;
}

bool any_result(const BenchmarkResult&) { return true; }

std::vector<Family> families(const ReportData& data, Grouping grouping,
                             bool (*fits)(const BenchmarkResult&)) {
  std::map<std::string, std::set<std::string>> devices;  // by operation
  std::vector<const BenchmarkResult*> results;
  for (const auto* result : measured_results(data)) {
    if (!fits(*result)) continue;
    results.push_back(result);
    devices[operation_of(*result)].insert(result->device);
  }
  std::vector<Family> all;
  std::map<std::string, size_t> numbers;
  for (const auto* result : results) {
    auto title = operation_of(*result);
    const bool by_type =
        grouping == Grouping::type ||
        (grouping == Grouping::type_where_devices_differ && devices[title].size() > 1);
    if (by_type) title += " " + result->dtype;
    const auto [at, is_new] = numbers.try_emplace(title, all.size());
    if (is_new) all.push_back({title, by_type, {}});
    all[at->second].results.push_back(result);
  }
  return all;
}

size_t Rows::row_of(const std::string& name) {
  const auto [at, is_new] = rows_.try_emplace(name, names_.size());
  if (!is_new) return at->second;
  if (names_.size() == kMostRows) return at->second = npos;
  names_.push_back(name);
  return at->second;
}

std::string Rows::note() const {
  if (rows_.size() == names_.size()) return "";
  return fmt::format("The first {} of {} cases; the table has all.", names_.size(), rows_.size());
}

std::vector<chart::Chart> first_charts(std::vector<chart::Chart> charts) {
  std::erase_if(charts, [](const chart::Chart& chart) { return chart.series.empty(); });
  if (charts.size() <= kMostCharts) return charts;
  const auto left_out = charts.size() - kMostCharts;
  charts.resize(kMostCharts);
  auto& note = charts.back().note;
  note += fmt::format("{}{} more charts of this kind are left out; the table has their figures.",
                      note.empty() ? "" : " ", left_out);
  return charts;
}

}  // namespace trilobite::figures
