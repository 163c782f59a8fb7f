#pragma once
// Figures without samples: the baselines file with one number per metric, platform and
// implementation ({"baselines": {"linux-x86_64": {"rust_implementation":
// {"latency_p50_ms": 89.2}}}, "thresholds": {...}}). One number carries no interval, so it is held
// against thresholds alone, and the verdict says so.

#include <map>
#include <string>

#include "base/json.hpp"
#include "record/record.hpp"
#include "verdict/regression.hpp"

namespace trilobite::verdict {

/// Metrics by implementation ("rust_implementation").
using MetricTable = std::map<std::string, std::map<std::string, double>>;

bool is_metric_file(const Json& json);

/// The figures of `platform` in a baselines file; also of a file that holds only
/// {"<implementation>": {...}} or the metrics themselves. Errors list the platforms there are.
Result<MetricTable> metrics_in(const Json& json, const std::string& platform);

/// What a record says in the words of such a file: throughput_tokens_per_second, latency_p50_ms,
/// latency_p95_ms, memory_usage_mb, of the one benchmark that produces tokens.
Result<MetricTable> metrics_of_record(const RunRecord& record, const std::string& implementation);

/// Every metric of the baseline against the current one; a missing one is a problem, never stable.
RegressionReport compare_metrics(const MetricTable& baseline, const MetricTable& current,
                                 const RegressionSettings& settings);

}  // namespace trilobite::verdict
