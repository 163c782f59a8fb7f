#pragma once
// Summary: the figures of one sample that a record stores, in one plain struct.

#include <cstdint>

#include "stats/interval.hpp"
#include "stats/outliers.hpp"
#include "stats/sample.hpp"

namespace trilobite::stats {

/// In the unit of the sample, except n and outliers.
struct Summary {
  size_t n = 0;
  double median = 0;
  double mean = 0;
  double sd = 0;   ///< n - 1 in the denominator; 0 for n = 1
  double mad = 0;  ///< unscaled; times kMadToSigma it estimates sd
  double min = 0;
  double max = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  Interval median_ci95;  ///< median_interval(): with n < 6 the range, which covers less than 95 %
  Interval mean_ci95;    ///< mean_interval()
  Outliers outliers;
};

/// All figures of `sample`. The seed is used by the bootstrap of the mean alone.
Summary summarize(const Sample& sample, uint64_t seed);

}  // namespace trilobite::stats
