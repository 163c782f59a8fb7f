#pragma once
// The figures that the project set out to reach, and where each is found in what was measured.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "record/record.hpp"
#include "report/targets.hpp"

namespace trilobite::cli {

/// Where targets look for their figures.
struct TargetSources {
  const RunRecord& record;  // of the benchmarks that kTargetPattern selects
  const Json* model;        // performance-report.json of `trilobite inference`, or null
  const Json* comparison;   // comparison-results.json of `trilobite crossval`, or null
};

/// A figure, or why there is none.
struct TargetFigure {
  std::optional<double> value;
  std::string reason;
};

/// A target that nothing was measured for yet, and who finds its figure.
struct WantedTarget {
  Target target;
  std::function<TargetFigure(const TargetSources&)> figure;
};

/// The benchmarks that the targets need, as a regular expression on ids.
extern const char* const kTargetPattern;

std::vector<WantedTarget> all_targets();

}  // namespace trilobite::cli
