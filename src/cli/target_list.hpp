#pragma once
// The figures that the project set out to reach, and whether a measurement reached them.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "record/record.hpp"

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

struct Target {
  std::string name;
  double limit = 0;
  bool at_least = true;  // else: below the limit
  std::string unit;
  std::function<TargetFigure(const TargetSources&)> figure;
};

/// The benchmarks that the targets need, as a regular expression on ids.
extern const char* const kTargetPattern;

std::vector<Target> all_targets();

enum class Outcome { met, missed, unavailable };
Outcome outcome_of(const Target& target, const TargetFigure& figure);
std::string_view name_of(Outcome outcome);

}  // namespace trilobite::cli
