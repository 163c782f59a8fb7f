#pragma once
// The Theil-Sen line: a trend that up to 29 % of wild points cannot move at will.

#include <span>

#include "base/error.hpp"
#include "stats/interval.hpp"

namespace trilobite::stats {

struct TheilSen {
  double slope = 0;           ///< median of the slopes through all pairs of points
  double intercept = 0;       ///< median(y) - slope * median(x)
  Interval slope_interval{};  ///< of the slope, at `confidence` (Sen 1968)
};

/// Fits y = intercept + slope * x. `confidence` must lie in (0, 1). Fails when the lengths differ,
/// a value is not finite, or fewer than two different x exist. Time and memory grow with the square
/// of the number of points: 1,000 points make 500,000 slopes (4 MB).
Result<TheilSen> theil_sen(std::span<const double> x, std::span<const double> y,
                           double confidence = 0.95);

}  // namespace trilobite::stats
