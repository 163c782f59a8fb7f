#pragma once
// Outliers by Tukey's fences. They are counted and reported, never removed: a slow sample is data.

#include <cstddef>

#include "stats/sample.hpp"

namespace trilobite::stats {

/// How many values lie beyond the fences; a severe outlier is not counted as mild as well.
struct Outliers {
  size_t low_severe = 0;   ///< below Q1 - 3 IQR
  size_t low_mild = 0;     ///< below Q1 - 1.5 IQR
  size_t high_mild = 0;    ///< above Q3 + 1.5 IQR
  size_t high_severe = 0;  ///< above Q3 + 3 IQR

  size_t total() const { return low_severe + low_mild + high_mild + high_severe; }
  bool operator==(const Outliers&) const = default;
};

/// Counts the outliers by class. Quartiles are those of percentile(); a value on a fence is inside.
Outliers count_outliers(const Sample& sample);

}  // namespace trilobite::stats
