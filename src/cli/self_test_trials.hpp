#pragma once
// Trials of our own verdicts: a real kernel (the sum of an array) with a known share of extra work
// against itself, judged by `ab`, by `regression-check`, and by what is usual elsewhere.

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stats/interval.hpp"
#include "trilobite/bench.hpp"

namespace trilobite::cli {

/// The methods of a trial, in the order of the table.
inline constexpr std::array<const char*, 5> kMethods{"ab", "regression-check",
                                                     "Mann-Whitney on whole runs",
                                                     "Welch on whole runs", "fixed 5 % on medians"};

/// How often each method called the candidate slower.
struct EffectTally {
  double effect = 0;  // share of extra work
  std::array<size_t, kMethods.size()> trials{};
  std::array<size_t, kMethods.size()> alarms{};
  double ab_seconds = 0;  // of all its trials
  size_t ab_withheld = 0;

  double rate(size_t method) const;
  /// Clopper & Pearson, 95 %.
  stats::Interval interval(size_t method) const;
};

struct SelfTestPlan {
  std::chrono::nanoseconds time = std::chrono::seconds(60);
  uint64_t seed = 42;
  std::vector<double> effects{0, 0.005, 0.01, 0.02, 0.05, 0.10};
  double share_without_effect = 0.5;  // of the time: rare alarms need many trials
  std::function<bool()> should_stop = [] { return false; };
};

/// The benchmark of a trial's program, doing `extra` more work.
std::vector<BenchmarkDefinition> self_test_definitions(double extra);

/// Runs trials of all effects in turn until the time is over. Fails when the program cannot start
/// itself.
Result<std::vector<EffectTally>> run_self_test_trials(const SelfTestPlan& plan);

}  // namespace trilobite::cli
