#include "report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "report/human_units.hpp"
#include "report/recommendation.hpp"
#include "stats/bootstrap.hpp"

namespace trilobite {
namespace {

using ResultOf = std::map<std::string, const BenchmarkResult*>;  // by device

bool is_measured(const BenchmarkResult& result) {
  return result.status == Status::ok && result.statistics && result.statistics->median > 0;
}

/// time of `slower` / time of `faster`; nothing when a sample is not a positive finite time.
std::optional<Ratio> resampled_ratio(const BenchmarkResult& slower, const BenchmarkResult& faster,
                                     uint64_t seed) {
  const auto numerator = stats::Sample::from(slower.samples_ns);
  const auto denominator = stats::Sample::from(faster.samples_ns);
  if (!numerator || !denominator) return std::nullopt;
  const auto interval = stats::median_ratio_interval(*numerator, *denominator, {.seed = seed});
  if (!interval) return std::nullopt;
  return Ratio{slower.statistics->median / faster.statistics->median,
               {interval->low, interval->high}};
}

DeviceEntry entry_from(const BenchmarkResult& result) {
  DeviceEntry entry{.device = result.device,
                    .id = result.id,
                    .status = result.status,
                    .reason = result.reason,
                    .samples = result.samples_ns.size(),
                    .throughput = result.throughput,
                    .memory = result.memory};
  if (result.statistics) {
    entry.median_ns = result.statistics->median;
    entry.median_ci95 = result.statistics->median_ci95;
  }
  return entry;
}

/// How ratios of one comparison are made.
struct RatioMaker {
  bool resample = true;
  uint64_t seed = 0;

  std::optional<Ratio> operator()(const BenchmarkResult& slower,
                                  const BenchmarkResult& faster) const {
    if (slower.samples_ns.empty() || faster.samples_ns.empty()) return std::nullopt;
    if (resample) return resampled_ratio(slower, faster, seed);
    return ratio_from_medians(entry_from(slower), entry_from(faster));
  }
};

void decide(ComparisonGroup& group, const ResultOf& results, const RatioMaker& ratio_of) {
  std::vector<const BenchmarkResult*> ranked;
  for (const auto& entry : group.entries) {
    const auto* result = results.at(entry.device);
    if (is_measured(*result)) ranked.push_back(result);
  }
  // Equal medians go by name, so that the order of the record does not matter.
  std::ranges::sort(ranked, {}, [](const auto* result) {
    return std::pair<double, std::string_view>(result->statistics->median, result->device);
  });
  if (ranked.empty()) return;
  group.fastest = ranked[0]->device;
  group.outcome = Outcome::one_device;
  if (ranked.size() == 1) return;
  group.runner_up = ranked[1]->device;
  group.lead = ratio_of(*ranked[1], *ranked[0]);
  const bool few =
      !supports_95_percent(std::min(ranked[0]->samples_ns.size(), ranked[1]->samples_ns.size()));
  if (few || !group.lead) {
    group.outcome = Outcome::few;
  } else {
    group.outcome = group.lead->ci95.low > 1 ? Outcome::winner : Outcome::tie;
  }
}

ComparisonGroup group_of(const ResultOf& results, const Comparison& comparison,
                         const RatioMaker& ratio_of) {
  const BenchmarkResult& any = *results.begin()->second;
  ComparisonGroup group{.suite = any.suite,
                        .operation = any.operation,
                        .dtype = any.dtype,
                        .shape = any.shape,
                        .parameters = any.parameters};
  const auto baseline = results.find(comparison.baseline);
  const bool has_baseline = baseline != results.end() && is_measured(*baseline->second);
  for (const auto& device : comparison.devices) {
    const auto found = results.find(device);
    if (found == results.end()) continue;
    const auto& result = *found->second;
    auto& entry = group.entries.emplace_back(entry_from(result));
    group.bytes = std::max(group.bytes, result.work.bytes_read + result.work.bytes_written);
    if (!has_baseline || !is_measured(result)) continue;
    entry.speedup = device == comparison.baseline ? std::optional(Ratio())
                                                  : ratio_of(*baseline->second, result);
  }
  decide(group, results, ratio_of);
  return group;
}

/// The baseline first, the others in the order of the record.
std::vector<std::string> devices_of(const RunRecord& record, std::string_view baseline) {
  std::vector<std::string> devices;
  for (const auto& result : record.benchmarks) {
    if (std::ranges::find(devices, result.device) == devices.end()) {
      devices.push_back(result.device);
    }
  }
  const auto found = std::ranges::find(devices, baseline);
  if (found != devices.end()) std::rotate(devices.begin(), found, found + 1);
  return devices;
}

void add_notes(Comparison& comparison) {
  if (comparison.devices.empty()) {
    comparison.notes.push_back("the run has no benchmarks");
  } else if (comparison.devices.front() != comparison.baseline) {
    comparison.notes.push_back(fmt::format(
        "the baseline device '{}' has no results in this run, so there are no speed-ups; it has {}",
        comparison.baseline, fmt::join(comparison.devices, ", ")));
  }
  if (!comparison.resampled) {
    comparison.notes.push_back(
        "so many samples are not resampled: intervals of ratios are from those of both medians");
  }
  const auto alone =
      std::ranges::count(comparison.groups, Outcome::one_device, &ComparisonGroup::outcome);
  if (alone > 0) {
    comparison.notes.push_back(
        fmt::format("{} of {} cases ran on one device only", alone, comparison.groups.size()));
  }
}

}  // namespace

Comparison compare_devices(const RunRecord& record, std::string_view baseline_device) {
  Comparison comparison{.run_id = record.id,
                        .started_at = record.started_at,
                        .cpu = record.environment.cpu.model,
                        .threads = record.threads,
                        .baseline = std::string(baseline_device),
                        .devices = devices_of(record, baseline_device),
                        .warnings = record.warnings};
  using Key = std::tuple<std::string, std::string, std::string, std::string,
                         std::map<std::string, std::string>>;
  std::map<Key, ResultOf> results;
  std::vector<Key> order;
  size_t samples = 0;
  for (const auto& result : record.benchmarks) {
    Key key{result.suite, result.operation, result.dtype, result.shape, result.parameters};
    if (!results.contains(key)) order.push_back(key);
    results[key].try_emplace(result.device, &result);
    samples += result.samples_ns.size();
  }
  comparison.resampled = samples <= kMostResampled;
  const RatioMaker ratio_of{comparison.resampled, record.seed};
  for (const auto& key : order) {
    comparison.groups.push_back(group_of(results[key], comparison, ratio_of));
  }
  add_notes(comparison);
  comparison.recommendations = recommend(comparison, record.environment.cpu);
  return comparison;
}

Ratio ratio_from_medians(const DeviceEntry& above, const DeviceEntry& below) {
  const double value = above.median_ns / below.median_ns;
  const double down = std::hypot(std::log(above.median_ns / above.median_ci95.low),
                                 std::log(below.median_ci95.high / below.median_ns));
  const double up = std::hypot(std::log(above.median_ci95.high / above.median_ns),
                               std::log(below.median_ns / below.median_ci95.low));
  return {value, {value * std::exp(-down), value * std::exp(up)}};
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::winner: return "winner";
    case Outcome::tie: return "tie";
    case Outcome::few: return "few samples";
    case Outcome::one_device: return "one device";
    case Outcome::no_device: break;
  }
  return "no device";
}

std::string case_of(const ComparisonGroup& group) {
  std::string text = group.shape;
  for (const auto& [name, value] : group.parameters) text += fmt::format(" {}={}", name, value);
  return text;
}

const DeviceEntry* entry_of(const ComparisonGroup& group, std::string_view device) {
  const auto found = std::ranges::find(group.entries, device, &DeviceEntry::device);
  return found == group.entries.end() ? nullptr : &*found;
}

}  // namespace trilobite
