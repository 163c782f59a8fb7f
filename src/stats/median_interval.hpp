#pragma once
// The confidence interval of a median, from order statistics. No resampling and no seed.
//
// Why not the bootstrap: the bootstrap median of a small sample takes only a few values, its
// jackknife does not converge (Efron 1979), and BCa inherits both: its 95 % cover 93.5 %
// at n = 10 (docs/adr/0006). How many values fall below the true median is a fair coin tossed n
// times, whatever the distribution, so the confidence of an interval between two order statistics
// is known exactly. Hettmansperger & Sheather (1986) interpolate between the two such intervals
// around the wanted confidence, which keeps it nearly free of the distribution.

#include "stats/interval.hpp"
#include "stats/sample.hpp"

namespace trilobite::stats {

/// The interval of the median of the population. `confidence` must lie in (0, 1). When n is too
/// small for it (see largest_median_confidence) the answer is the whole range of the sample, which
/// then covers less than asked; a single value gives the point itself.
Interval median_interval(const Sample& sample, double confidence = 0.95);

/// The confidence that the range of n values holds the median: 1 - 2^(1-n), so 95 % needs n >= 6.
double largest_median_confidence(size_t n);

}  // namespace trilobite::stats
