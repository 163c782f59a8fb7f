#pragma once
// Change points of one series: where its level moved for good. A class of its own between the
// detectors that ask for significance only (and report every ripple) and a person who looks at the
// chart: candidates come from the best segmentation of the series without its outliers, the weakest
// is dropped and its neighbours are judged again, until every one left has evidence enough.

#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "stats/interval.hpp"
#include "verdict/change_evidence.hpp"

namespace trilobite::verdict {

struct ChangePointSettings {
  size_t smallest_series = 8;  // fewer points are never divided
  size_t outlier_reach = 5;    // points on each side of the running median
  double outlier_spreads = 3;  // values further from it are pulled back to this many sigma
  double penalty = 3;          // of the segmentation, times sigma^2 log n
  size_t shortest_segment = 3;
  double least_rank = 2.58;           // two-sided p of 0.01 on at least one scale
  double least_rank_of_values = 3.0;  // the same with the outliers; p of 0.001
  double least_weight = -0.9;         // log odds that a person marks the point
  double confidence = 0.95;           // of the interval of each step
  Evidence weights = kFittedWeights;
};

struct ChangePoint {
  size_t index = 0;   // first point of the new level
  double before = 0;  // median of the stretch before, in units of the series
  double after = 0;
  double change = 0;  // relative: after / before - 1, from the shift of up to 60 points a side
  stats::Interval interval;  // of `change`
  double p_value = 1;        // Mann-Whitney, up to 60 points on each side
  double support = 0;        // estimated share of engineers who would mark it
};

/// All values finite; nothing is found in fewer than `smallest_series`. When every value is above
/// zero steps are judged and answered as ratios; otherwise as differences relative to the median
/// size of the values.
std::vector<ChangePoint> find_change_points(std::span<const double> values,
                                            const ChangePointSettings& settings = {});

/// The values as they are judged: on the scale of steps, outliers pulled back. For tools that fit
/// the weights.
struct PreparedSeries {
  std::vector<double> values;   // on the scale of steps: logarithms, or shares of the typical size
  std::vector<double> clipped;  // the same without outliers
  bool logarithmic = true;
  double scale = 1;  // of the shares when not logarithmic
};
PreparedSeries prepare_series(std::span<const double> values, const ChangePointSettings& settings);

/// What is left of the candidates, each with its evidence.
struct JudgedPoint {
  size_t index = 0;
  Evidence evidence{};
  double weight = 0;
};
std::vector<JudgedPoint> judged_points(const PreparedSeries& series,
                                       const ChangePointSettings& settings);

}  // namespace trilobite::verdict
