#pragma once
// Stored runs against stored runs: regressed, improved, equivalent or undecided, for every
// benchmark and metric, with an interval that knows how much this machine varies from run to run.
//
// The unit of evidence is the run, not the sample: thousands of samples of one run share its fate.
// Run-to-run variance comes from the pooled runs of the baseline, strengthened by the other
// benchmarks of the check (stats/moderated_variance.hpp). docs/verdicts.md has the rules in full.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/baseline.hpp"
#include "stats/interval.hpp"
#include "verdict/thresholds.hpp"

namespace trilobite::verdict {

enum class Answer { regressed, improved, equivalent, undecided };
enum class Level { critical, warning, improvement, stable, undecided };
std::string_view name_of(Answer answer);
std::string_view name_of(Level level);

/// One metric of one benchmark on both sides. Values are per run.
struct MetricRuns {
  std::string benchmark;
  std::string metric;  // "time", "throughput_tokens", "latency_p95", "memory_peak", "accuracy_..."
  std::string unit;
  std::optional<bool> more_is_better = false;  // nothing: not known
  bool exact = false;                          // counted, not measured: any difference is real
  std::vector<double> baseline;
  std::vector<double> current;
  /// Standard deviation of one run's logarithm as its own samples tell; the least that is believed.
  double within_run = 0;
  size_t samples = 0;          // fewest of any run
  size_t per_run_samples = 0;  // of the current run, to say how many more are needed
};

struct MetricVerdict {
  std::string benchmark;
  std::string metric;
  std::string unit;
  Answer answer = Answer::undecided;
  Level level = Level::undecided;
  double baseline = 0;  // geometric mean over its runs
  double current = 0;
  double change = 0;           // for the worse, of what it was: +0.05 is 5 % slower, larger, less
  stats::Interval interval;    // of `change`
  double p_value = 1;          // of "nothing changed", adjusted for the number of tests
  size_t further_samples = 0;  // that would decide it, when undecided
  std::string note;            // why it is undecided
};

enum class Status { all_pass, has_regressions, has_critical_regressions, has_failures, incomplete };
std::string_view name_of(Status status);

/// A benchmark that could not be compared: failed, missing, without samples.
struct Problem {
  std::string benchmark;
  std::string what;
  bool failure = false;  // its check or its run failed; else it is missing
};

struct RegressionReport {
  std::string baseline_name;
  std::string current_name;
  Status status = Status::incomplete;
  std::vector<MetricVerdict> verdicts;
  std::vector<Problem> problems;
  std::vector<std::string> remarks;  // "3 benchmarks are new", "one run only: ..."

  size_t count(Answer answer) const;
};

/// Compares two pools of runs. Fails when the machines differ and the settings do not allow it, or
/// when there is nothing to compare.
Result<RegressionReport> check_regression(const Baseline& baseline, const Baseline& current,
                                          const RegressionSettings& settings);

/// The decisions alone, for metrics from elsewhere.
std::vector<MetricVerdict> judge_metrics(std::span<const MetricRuns> metrics,
                                         const RegressionSettings& settings);

/// The status that belongs to the verdicts and problems.
Status status_of(const RegressionReport& report);

}  // namespace trilobite::verdict
