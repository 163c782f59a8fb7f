#pragma once
// Trials of our own verdicts: a real kernel (the sum of an array), fifty of them or the decoding of
// a model, with a known share of extra work against itself, judged by `ab`, by `regression-check`,
// and by what is usual elsewhere.

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/self_test_programs.hpp"
#include "stats/interval.hpp"

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
  double ab_seconds = 0;       // of all its trials
  double ab_most_seconds = 0;  // of one
  double ab_changes = 0;       // the sum of its estimates
  size_t ab_withheld = 0;

  double rate(size_t method) const;
  /// Clopper & Pearson, 95 %.
  stats::Interval interval(size_t method) const;
};

struct SelfTestPlan {
  std::chrono::nanoseconds time = std::chrono::seconds(60);
  uint64_t seed = 42;
  Subject subject = Subject::kernel;
  Path folder;                    // for the model of Subject::decode
  bool whole_runs = true;         // also regression-check and the usual methods; of the kernel only
  size_t most_trials = SIZE_MAX;  // of each effect
  std::vector<double> effects{0, 0.005, 0.01, 0.02, 0.05, 0.10};
  double share_without_effect = 0.5;  // of the time: rare alarms need many trials
  std::function<bool()> should_stop = [] { return false; };
};

/// Runs trials of all effects in turn until the time is over or all are done. Fails when the
/// program cannot start itself.
Result<std::vector<EffectTally>> run_self_test_trials(const SelfTestPlan& plan);

}  // namespace trilobite::cli
