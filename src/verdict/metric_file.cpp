#include "verdict/metric_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "verdict/direction.hpp"

namespace trilobite::verdict {
namespace {

bool holds_numbers(const Json& json) {
  return json.is_object() && !json.empty() &&
         std::ranges::any_of(json, [](const Json& value) { return value.is_number(); });
}

Result<std::map<std::string, double>> numbers_in(const Json& json, const std::string& place) {
  std::map<std::string, double> numbers;
  if (!json.is_object()) return fail(fmt::format("{}: must be an object of metrics", place));
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number()) continue;  // notes and dates stand beside the metrics
    const double number = value.get<double>();
    if (!std::isfinite(number) || number < 0)
      return fail(fmt::format("{}.{}: {} is no measurement", place, name, number));
    numbers[name] = number;
  }
  if (numbers.empty()) return fail(fmt::format("{}: holds no metric", place));
  return numbers;
}

Result<MetricTable> implementations_in(const Json& json, const std::string& place) {
  MetricTable table;
  if (holds_numbers(json)) {
    auto numbers = numbers_in(json, place);
    if (!numbers) return fail_from(numbers);
    table["rust_implementation"] = *std::move(numbers);
    return table;
  }
  if (!json.is_object()) return fail(fmt::format("{}: must be an object", place));
  for (const auto& [name, body] : json.items()) {
    if (!holds_numbers(body)) continue;
    auto numbers = numbers_in(body, place + "." + name);
    if (!numbers) return fail_from(numbers);
    table[name] = *std::move(numbers);
  }
  if (table.empty()) return fail(fmt::format("{}: holds no metrics", place));
  return table;
}

/// What cannot be 0 when something was measured.
bool is_rate_or_time(std::string_view metric) {
  constexpr std::string_view kParts[] = {"latency", "time", "throughput", "per_s"};
  return std::ranges::any_of(kParts, [&](auto part) { return metric.contains(part); });
}

void compare_one(const std::string& implementation, const std::string& metric, double before,
                 const std::map<std::string, double>& current, const RegressionSettings& settings,
                 RegressionReport& report) {
  const auto found = current.find(metric);
  if (found == current.end()) {
    report.problems.push_back(
        {implementation, fmt::format("missing: the current results have no {}", metric), false});
    return;
  }
  if (is_rate_or_time(metric) && (before == 0 || found->second == 0)) {
    report.problems.push_back(
        {implementation, fmt::format("{}: 0 is no measurement", metric), false});
    return;
  }
  const auto* said = settings.said_of(metric);
  const MetricRuns runs{.benchmark = implementation,
                        .metric = metric,
                        .unit = {},
                        .more_is_better = said != nullptr && said->more_is_better
                                              ? said->more_is_better
                                              : more_is_better(metric),
                        .exact = true,
                        .baseline = {before},
                        .current = {found->second}};
  auto verdict = judge_metrics(std::span(&runs, 1), settings).front();
  if (verdict.note.empty()) verdict.note = "one figure a side, no interval";
  report.verdicts.push_back(std::move(verdict));
}

}  // namespace

bool is_metric_file(const Json& json) {
  return json.is_object() && !json.contains("schema") &&
         (json.contains("baselines") || holds_numbers(json) ||
          std::ranges::any_of(json, holds_numbers));
}

Result<MetricTable> metrics_in(const Json& json, const std::string& platform) {
  if (!json.is_object() || !json.contains("baselines")) return implementations_in(json, "results");
  const auto& platforms = json.at("baselines");
  if (!platforms.is_object()) return fail("baselines: must be an object of platforms");
  if (!platforms.contains(platform)) {
    std::vector<std::string> known;
    for (const auto& [name, body] : platforms.items()) known.push_back(name);
    return fail(fmt::format("there is no baseline for the platform '{}'; there is {}", platform,
                            known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
  return implementations_in(platforms.at(platform), "baselines." + platform);
}

Result<MetricTable> metrics_of_record(const RunRecord& record, const std::string& implementation) {
  const BenchmarkResult* found = nullptr;
  for (const auto& result : record.benchmarks) {
    if (result.status != trilobite::Status::ok || !(result.throughput.tokens > 0)) continue;
    if (found != nullptr) {
      return fail(
          fmt::format("both {} and {} produce tokens; a file of single figures needs a "
                      "record with one such benchmark",
                      found->id, result.id));
    }
    found = &result;
  }
  if (found == nullptr) return fail("no benchmark of the record produces tokens");
  std::map<std::string, double> metrics{{"throughput_tokens_per_second", found->throughput.tokens},
                                        {"latency_p50_ms", found->statistics->p50 / 1e6},
                                        {"latency_p95_ms", found->statistics->p95 / 1e6}};
  if (found->memory)
    metrics["memory_usage_mb"] = static_cast<double>(found->memory->peak_bytes) / 1e6;
  for (const auto& [name, value] : found->figures)
    if (std::isfinite(value)) metrics[name] = value;
  return MetricTable{{implementation, std::move(metrics)}};
}

RegressionReport compare_metrics(const MetricTable& baseline, const MetricTable& current,
                                 const RegressionSettings& settings) {
  RegressionReport report;
  for (const auto& [implementation, metrics] : baseline) {
    const auto found = current.find(implementation);
    if (found == current.end()) {
      report.problems.push_back(
          {implementation, "missing: the current results do not have it", false});
      continue;
    }
    for (const auto& [metric, value] : metrics)
      compare_one(implementation, metric, value, found->second, settings, report);
  }
  report.remarks.emplace_back(
      "the baseline holds one figure per metric: thresholds decide, chance is not ruled out");
  report.status = status_of(report);
  return report;
}

}  // namespace trilobite::verdict
