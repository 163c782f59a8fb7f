#pragma once
// The Hodges-Lehmann shift: how far one sample lies above another, with the interval that belongs
// to the Mann-Whitney test. Outliers move it hardly at all, and it needs no resampling.

#include <span>

#include "stats/interval.hpp"

namespace trilobite::stats {

struct Shift {
  double value = 0;   ///< median of the differences second - first over all pairs
  Interval interval;  ///< at `confidence`, from the normal approximation of U (Lehmann 1963)
};

/// Both sides hold at least one finite value; `confidence` lies in (0, 1). The interval of very
/// small samples is the range of the differences, which covers less than asked. Time and memory
/// grow with the product of the sizes.
Shift hodges_lehmann(std::span<const double> first, std::span<const double> second,
                     double confidence = 0.95);

}  // namespace trilobite::stats
