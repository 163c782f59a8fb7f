#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/figures/figures.hpp"

namespace trilobite::figures {
namespace {

using chart::Chart;
using chart::Quantity;

bool has_accuracy(const BenchmarkResult& result) { return result.figures.contains("snr_db"); }

/// Formats of like size share a colour.
struct SizeClass {
  double most_bits;
  const char* name;
};
constexpr std::array kClasses{SizeClass{2.8, "below 3 bits a weight"},
                              SizeClass{5.5, "3 to 5.5 bits"}, SizeClass{9, "6 to 9 bits"},
                              SizeClass{INFINITY, "more, or not stated"}};

size_t class_of(const BenchmarkResult& result) {
  const auto found = result.figures.find("bits_per_weight");
  const double bits = found == result.figures.end() ? INFINITY : found->second;
  return static_cast<size_t>(
      std::ranges::find_if(kClasses, [&](const auto& c) { return !(bits > c.most_bits); }) -
      kClasses.begin());
}

/// The shape whose slowest result is the slowest of all: the one that says most about speed.
std::string largest_shape(const Family& family) {
  const auto slowest = std::ranges::max_element(
      family.results, {}, [](const auto* result) { return result->statistics->median; });
  return (*slowest)->shape;
}

Chart chart_of(const Family& family, const ReportData& data) {
  const auto shape = largest_shape(family);
  Chart chart{.title = fmt::format("{}, {}", family.title, shape)};
  chart.x = {.title = "median time of one iteration (further left is faster)",
             .quantity = Quantity::time_ns,
             .logarithmic = true};
  chart.y = {.title = "signal-to-noise ratio (higher is more accurate)",
             .quantity = Quantity::decibel};
  for (size_t i = 0; i < kClasses.size(); ++i)
    chart.series.push_back({.name = kClasses[i].name, .color = i});
  std::string exact;
  for (const auto* result : family.results) {
    const double snr = result->figures.at("snr_db");
    if (result->shape != shape || std::isnan(snr)) continue;
    if (std::isinf(snr)) {
      exact += (exact.empty() ? "" : ", ") + result->dtype;
      continue;
    }
    chart.series[class_of(*result)].marks.push_back(
        {.x = result->statistics->median,
         .y = snr,
         .text = fmt::format("{} ({})\n{:.1f} dB, {}", result->dtype, result->device, snr,
                             time_text(*result)),
         .facets = data.facets.of(*result)});
  }
  std::erase_if(chart.series, [](const auto& series) { return series.marks.empty(); });
  if (!exact.empty()) chart.note = "Exact, so without a place in the chart: " + exact + ".";
  return chart;
}

}  // namespace

std::vector<Chart> accuracy(const ReportData& data) {
  std::vector<Chart> charts;
  for (const auto& family : families(data, Grouping::operation, has_accuracy)) {
    if (family.results.size() >= 2) charts.push_back(chart_of(family, data));
  }
  return first_charts(std::move(charts));
}

}  // namespace trilobite::figures
