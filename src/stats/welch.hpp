#pragma once
// Welch's t-test: do two samples with different spreads have the same mean?

#include "base/error.hpp"
#include "stats/interval.hpp"
#include "stats/sample.hpp"

namespace trilobite::stats {

struct Welch {
  double t = 0;                   ///< statistic of mean(first) - mean(second)
  double degrees_of_freedom = 0;  ///< Welch-Satterthwaite
  double p_value = 1;             ///< two-sided
  Interval difference{};          ///< of mean(first) - mean(second), at `confidence`
};

/// Two-sided Welch test. `confidence` must lie in (0, 1). Fails when a sample has fewer than two
/// values or both are constant: then there is no spread to judge a difference by.
Result<Welch> welch(const Sample& first, const Sample& second, double confidence = 0.95);

}  // namespace trilobite::stats
