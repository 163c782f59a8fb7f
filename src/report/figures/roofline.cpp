#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/figures/figures.hpp"
#include "report/human_units.hpp"

namespace trilobite::figures {
namespace {

using chart::Chart;
using chart::Quantity;
using chart::Rule;
using chart::RuleKind;

constexpr const char* kUnit = "OP/s";

double bytes_of(const BenchmarkResult& result) {
  return result.work.bytes_read + result.work.bytes_written;
}

bool has_a_place(const BenchmarkResult& result) {
  return result.throughput.flops > 0 && bytes_of(result) > 0;
}

const ThreadLimits* limits_for(const RunRecord& record) {
  if (!record.limits) return nullptr;
  const auto& all = record.limits->by_threads;
  const auto found = std::ranges::find(all, record.threads, &ThreadLimits::threads);
  return found == all.end() ? nullptr : &*found;
}

/// Sloped roofs from the left edge to the highest flat one, flat ones from where memory allows
/// them.
std::vector<Rule> roofs(const ThreadLimits& limits, const std::set<std::string>& kinds,
                        double least_intensity) {
  double highest = 0;
  for (const auto& [kind, rate] : limits.operations) {
    if (kinds.contains(kind)) highest = std::max(highest, rate);
  }
  if (!(highest > 0)) return {};
  double fastest = 0;
  std::vector<Rule> rules;
  for (const auto& level : limits.bandwidth) {
    if (!(level.read > 0)) continue;
    fastest = std::max(fastest, level.read);
    const double left = std::min(least_intensity, highest / level.read / 2);
    rules.push_back({RuleKind::limit,
                     {{left, left * level.read}, {highest / level.read, highest}},
                     level.level,
                     fmt::format("{} read: {}", level.level, human_rate(level.read, "B/s"))});
  }
  for (const auto& [kind, rate] : limits.operations) {
    if (!kinds.contains(kind)) continue;
    const double left = fastest > 0 ? rate / fastest : least_intensity;
    rules.push_back({RuleKind::limit,
                     {{left, rate}, {INFINITY, rate}},
                     fmt::format("{} arithmetic", kind),
                     fmt::format("{} arithmetic: {}", kind, human_rate(rate, kUnit))});
  }
  return rules;
}

Chart roofline_of(const ReportData& data, size_t source) {
  const auto& record = data.sources[source].record;
  const auto* limits = limits_for(record);
  if (limits == nullptr) return {};
  Chart chart{.title =
                  fmt::format("Roofline{}, {} thread{}",
                              data.sources.size() > 1 ? " of " + data.sources[source].name : "",
                              record.threads, record.threads == 1 ? "" : "s")};
  chart.only_logarithmic = true;
  chart.x = {.title = "operations per byte that the benchmark must move", .logarithmic = true};
  chart.y = {.title = "operations per second",
             .quantity = Quantity::rate,
             .unit = kUnit,
             .logarithmic = true};
  std::map<size_t, chart::Series> by_device;
  std::set<std::string> kinds;
  double least = INFINITY;
  size_t marks = 0;
  for (size_t i = 0; i < data.joined.benchmarks.size(); ++i) {
    const auto& result = data.joined.benchmarks[i];
    if (data.source_of[i] != source || result.status != Status::ok || !has_a_place(result))
      continue;
    if (++marks > kMostMarks) continue;
    const double intensity = result.work.flops / bytes_of(result);
    least = std::min(least, intensity);
    kinds.insert(result.work.compute);
    const auto device = data.facets.device_number(result);
    auto& series = by_device[device];
    series.name = result.device;
    series.color = device;
    series.marks.push_back(
        {.x = intensity,
         .y = result.throughput.flops,
         .text = fmt::format("{}\n{} at {:.3g} operations per byte{}", result.id,
                             human_rate(result.throughput.flops, kUnit), intensity,
                             result.limit ? "\n" + short_limit(result) : ""),
         .facets = data.facets.of(result)});
  }
  for (auto& [device, series] : by_device) chart.series.push_back(std::move(series));
  chart.rules = roofs(*limits, kinds, least);
  chart.note =
      "Roofs are this machine's limits, measured with the same threads. Data that stays in a cache "
      "may lie above the roof of memory.";
  if (marks > kMostMarks)
    chart.note += fmt::format(" The first {} of {} benchmarks.", kMostMarks, marks);
  return chart;
}

}  // namespace

std::vector<Chart> rooflines(const ReportData& data) {
  std::vector<Chart> charts;
  for (size_t source = 0; source < data.sources.size(); ++source)
    charts.push_back(roofline_of(data, source));
  return first_charts(std::move(charts));
}

}  // namespace trilobite::figures
