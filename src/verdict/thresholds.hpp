#pragma once
// When a change matters: the thresholds of `regression-check`, and the configuration files that
// hold them.

#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace trilobite::verdict {

/// Relative changes for the worse: 0.05 is 5 %.
struct Levels {
  double least = 0.05;  // a warning from here on; smaller changes are equivalent
  double critical = 0.15;
};

/// What is said about one metric, or about all whose names begin with it.
struct MetricThresholds {
  Levels levels;
  std::optional<bool> more_is_better;  // "_decrease_percent" says so
};

/// What applies to the benchmarks whose id matches.
struct GroupThresholds {
  std::string name;
  std::regex pattern;
  Levels levels;
};

struct RegressionSettings {
  Levels levels;
  std::vector<GroupThresholds> groups;                // the first that matches wins
  std::map<std::string, MetricThresholds> by_metric;  // "throughput", ...: over the groups
  size_t minimum_samples = 10;
  double confidence = 0.95;         // of the intervals, and of "equivalent"
  double false_alarms = 0.01;       // chance that an unchanged benchmark is called regressed
  double false_discoveries = 0.05;  // over all benchmarks of one check
  bool other_machine = false;       // compare although the fingerprints differ
  std::string baseline_file;        // from the configuration; empty: none
  bool auto_update_baseline = false;

  Levels levels_for(const std::string& benchmark, const std::string& metric) const;
  /// What `by_metric` says about the metric, by the longest name that fits; nullptr: nothing.
  const MetricThresholds* said_of(const std::string& metric) const;
};

/// The configuration of a regression check over `base`. Known members: baseline_file,
/// regression_threshold, minimum_samples, confidence_level, alert_thresholds {warning, critical}
/// (its warning is another name of the threshold, and wins where both are given),
/// auto_update_baseline, groups {"<regex>": {regression_threshold, alert_thresholds}}, and
/// `thresholds` or `alerts` in the percent form of apply_percent_thresholds.
Result<RegressionSettings> settings_from_json(const Json& json, RegressionSettings base);

/// {"critical": {"throughput_decrease_percent": 15, ...}, "warning": {...}}
Result<void> apply_percent_thresholds(const Json& json, RegressionSettings& settings);

}  // namespace trilobite::verdict
