#pragma once
// What the runs of a benchmark say, metric by metric.

#include <string>
#include <vector>

#include "verdict/regression.hpp"

namespace trilobite::verdict {

/// The results of one benchmark, one per run that has it.
using ResultsOfRuns = std::vector<const BenchmarkResult*>;

/// What both sides have; neither is empty.
std::vector<MetricRuns> metrics_of_runs(const std::string& benchmark, const ResultsOfRuns& baseline,
                                        const ResultsOfRuns& current);

/// Names of what the baseline has and the current runs do not.
std::vector<std::string> lost_metrics(const ResultsOfRuns& baseline, const ResultsOfRuns& current);

}  // namespace trilobite::verdict
