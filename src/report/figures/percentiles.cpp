// Charts of how times are spread: percentiles, and the samples themselves.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/duration.hpp"
#include "report/figures/figures.hpp"
#include "report/human_units.hpp"

namespace trilobite::figures {
namespace {

using chart::Chart;
using chart::Quantity;

struct Percentile {
  const char* name;
  double TimeStatistics::* value;
};
constexpr std::array kPercentiles{Percentile{"p50", &TimeStatistics::p50},
                                  Percentile{"p95", &TimeStatistics::p95},
                                  Percentile{"p99", &TimeStatistics::p99}};

bool has_samples(const BenchmarkResult& result) { return !result.samples_ns.empty(); }

std::string row_name(const BenchmarkResult& result) {
  return case_name(result, false) + " " + result.device;
}

}  // namespace

std::vector<Chart> latency(const ReportData& data) {
  std::vector<Chart> charts;
  for (const auto& family : families(data, Grouping::operation, any_result)) {
    Chart chart{.title = family.title};
    chart.x = {.title = "time of one iteration: median, 95th and 99th percentile of the samples",
               .quantity = Quantity::time_ns,
               .logarithmic = true};
    for (size_t i = 0; i < kPercentiles.size(); ++i)
      chart.series.push_back({.name = kPercentiles[i].name, .color = i});
    Rows rows;
    for (const auto* result : family.results) {
      const auto row = rows.row_of(row_name(*result));
      if (row == Rows::npos) continue;
      for (size_t i = 0; i < kPercentiles.size(); ++i) {
        const double value = (*result->statistics).*kPercentiles[i].value;
        if (!std::isfinite(value)) continue;
        chart.series[i].marks.push_back(
            {.x = value,
             .y = static_cast<double>(row),
             .text = fmt::format("{}\n{}: {} ({})", row_name(*result), kPercentiles[i].name,
                                 human_time(value), counted(result->samples_ns.size(), "sample")),
             .facets = data.facets.of(*result)});
      }
    }
    chart.y.categories = rows.names();
    chart.note = rows.note();
    charts.push_back(std::move(chart));
  }
  return first_charts(std::move(charts));
}

std::vector<Chart> samples(const ReportData& data) {
  std::vector<Chart> charts;
  for (const auto& family : families(data, Grouping::operation, has_samples)) {
    Chart chart{.title = family.title};
    chart.x = {.title = "time of one iteration, every sample",
               .quantity = Quantity::time_ns,
               .logarithmic = true};
    Rows rows;
    auto& series = chart.series.emplace_back();
    series.name = "samples";
    for (const auto* result : family.results) {
      const auto row = rows.row_of(row_name(*result));
      if (row == Rows::npos) continue;
      for (const double sample : result->samples_ns) {
        series.marks.push_back({.x = sample,
                                .y = static_cast<double>(row),
                                .text = human_time(sample),
                                .facets = data.facets.of(*result)});
      }
    }
    chart.y.categories = rows.names();
    chart.note = rows.note();
    charts.push_back(std::move(chart));
  }
  return first_charts(std::move(charts));
}

}  // namespace trilobite::figures
