#include "harness/collector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/time_statistics.hpp"
#include "measure/limits.hpp"
#include "stats/describe.hpp"

namespace trilobite {
namespace {

// Medians should repeat within 3 %; the extremes of five rounds may lie three times as far apart
// before it is worth a word.
constexpr double kDoubtfulRoundSpread = 0.10;
// Data in a faster cache than their size suggests make a share of a little more than 1.
constexpr double kDoubtfulShare = 1.5;

// Fewer quiet samples of a round may be chance. One round in four has pages that get into each
// other's way in a cache, which costs 4 % and more: of three rounds one hardly ever has not.
constexpr size_t kFewestQuietSamples = 3;
constexpr size_t kFewestQuietRounds = 3;

/// The lower one of two: what disturbed a sample between two quiet looks made it longer.
double lower_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void add_to(Disturbance& total, const Disturbance& more) {
  total.by_steal += more.by_steal;
  total.by_context_switch += more.by_context_switch;
  total.by_major_fault += more.by_major_fault;
  total.retaken += more.retaken;
  total.kept += more.kept;
}

/// How far the medians of the rounds lie apart, as a share of the smallest.
double spread_of_rounds(const BenchmarkResult& result) {
  double low = 0;
  double high = 0;
  auto from = result.samples_ns.begin();
  for (const uint64_t count : result.samples_per_round) {
    const auto sample = stats::Sample::from({from, from + static_cast<int64_t>(count)});
    from += static_cast<int64_t>(count);
    if (!sample) continue;
    const double middle = stats::median(*sample);
    low = low == 0 ? middle : std::min(low, middle);
    high = std::max(high, middle);
  }
  return low > 0 ? high / low - 1 : 0;
}

}  // namespace

Collector::Collector(const std::vector<SelectedBenchmark>& selection, const SamplingPlan& plan,
                     const MachineLimits* limits)
    : plan_(plan), limits_(limits) {
  for (const auto& benchmark : selection) {
    auto& result = entries_.emplace_back().result;
    result.id = benchmark.id;
    result.suite = benchmark.definition->suite;
    result.operation = benchmark.definition->operation;
    result.dtype = benchmark.parameters.dtype;
    result.device = benchmark.parameters.device;
    result.shape = benchmark.parameters.shape;
    result.parameters = benchmark.parameters.parameters;
  }
}

void Collector::add(const StepResult& step) {
  Entry& entry = entries_.at(step.benchmark);
  entry.visited = true;
  ++entry.rounds_done;
  const BenchmarkResult& partial = step.partial;
  BenchmarkResult& result = entry.result;
  if (!entry.calibration) {
    entry.calibration = Calibration{partial.iterations_per_sample, step.planned_samples};
    entry.warm_up_was_stable = step.warm_up_was_stable;
    result.iterations_per_sample = partial.iterations_per_sample;
    result.work = partial.work;
    result.memory = partial.memory;
    result.check = partial.check;
    result.figures = partial.figures;
  }
  result.status = partial.status;
  result.reason = partial.reason;
  result.samples_ns.insert(result.samples_ns.end(), partial.samples_ns.begin(),
                           partial.samples_ns.end());
  result.samples_per_round.push_back(partial.samples_ns.size());
  add_to(result.disturbance, partial.disturbance);
  for (const auto& [kernel, calls] : partial.kernels) result.kernels[kernel] += calls;
  entry.calibration->quiet_spent_ns += step.quiet_spent_ns;
  if (partial.quiet) {
    entry.quiet_rounds.push_back(*partial.quiet);
    const double witness = partial.quiet->witness_ns;
    shortest_witness_ns_ =
        shortest_witness_ns_ == 0 ? witness : std::min(shortest_witness_ns_, witness);
  }
}

std::optional<QuietTime> Collector::quiet_time(const Entry& entry) const {
  QuietTime total{.witness_ns = shortest_witness_ns_};
  std::vector<double> medians;
  for (const auto& round : entry.quiet_rounds) {
    const bool was_quiet = round.witness_ns <= kQuietSpread * shortest_witness_ns_;
    if (!was_quiet || round.samples_ns.size() < kFewestQuietSamples) continue;
    medians.push_back(lower_median(round.samples_ns));
    total.samples_per_round.push_back(round.samples_ns.size());
    total.samples_ns.insert(total.samples_ns.end(), round.samples_ns.begin(),
                            round.samples_ns.end());
  }
  if (medians.size() < std::min(kFewestQuietRounds, plan_.rounds)) return std::nullopt;
  total.best_ns = std::ranges::min(medians);
  return total;
}

void Collector::end_early(size_t benchmark, Status status, std::string reason) {
  Entry& entry = entries_.at(benchmark);
  entry.visited = true;
  entry.result.status = status;
  entry.result.reason = std::move(reason);
}

bool Collector::is_finished(size_t benchmark) const {
  const Entry& entry = entries_.at(benchmark);
  return entry.visited && (entry.result.status != Status::ok || entry.rounds_done == plan_.rounds);
}

bool Collector::wants(const Step& step) const {
  return !is_finished(step.benchmark) && entries_.at(step.benchmark).rounds_done == step.round;
}

std::optional<Calibration> Collector::calibration(size_t benchmark) const {
  return entries_.at(benchmark).calibration;
}

size_t Collector::finished() const {
  size_t count = 0;
  for (size_t i = 0; i < entries_.size(); ++i) count += static_cast<size_t>(is_finished(i));
  return count;
}

BenchmarkResult Collector::result(size_t benchmark) const {
  BenchmarkResult result = entries_.at(benchmark).result;
  if (result.samples_ns.empty()) return result;
  result.quiet = quiet_time(entries_.at(benchmark));
  result.statistics = statistics_of(result.samples_ns, plan_.seed);
  result.throughput = throughput_of(result.work, result.statistics->median);
  if (limits_ != nullptr) {
    result.limit = share_of_limit(*limits_, result.work, plan_.threads, result.statistics->median);
  }
  return result;
}

std::vector<BenchmarkResult> Collector::results() const {
  std::vector<BenchmarkResult> results;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].visited) results.push_back(result(i));
  }
  return results;
}

std::vector<Warning> Collector::warnings() const {
  std::vector<Warning> warnings;
  for (const auto& entry : entries_) {
    const auto& result = entry.result;
    if (result.status != Status::ok || result.samples_ns.empty()) continue;
    const auto samples = result.samples_ns.size();
    if (result.disturbance.kept * 10 > samples) {
      warnings.push_back(
          {"disturbed",
           fmt::format("{} of {} samples were disturbed and could not be retaken in time",
                       result.disturbance.kept, samples),
           "raise --measurement-time, or repeat when the machine is quieter", result.id});
    }
    if (const double spread = spread_of_rounds(result); spread > kDoubtfulRoundSpread) {
      warnings.push_back(
          {"rounds-disagree",
           fmt::format(
               "the medians of its rounds lie {:.0f} % apart: another run may differ as much",
               100 * spread),
           "use more rounds (--rounds), fewer threads, or a quieter machine", result.id});
    }
    const auto limit = limits_ == nullptr ? std::nullopt
                                          : share_of_limit(*limits_, result.work, plan_.threads,
                                                           lower_median(result.samples_ns));
    if (limit && limit->share > kDoubtfulShare) {
      warnings.push_back(
          {"above-limit",
           fmt::format("it is {:.1f} times as fast as what was measured as the limit ({})",
                       limit->share, limit->limit),
           "measure the limits again when the machine is quiet (--refresh-limits)", result.id});
    }
    if (!entry.warm_up_was_stable) {
      warnings.push_back({"unstable-warm-up",
                          "its time was still changing at the end of the warm-up",
                          "raise --warm-up-time", result.id});
    }
  }
  return warnings;
}

}  // namespace trilobite
