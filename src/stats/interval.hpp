#pragma once
// Interval: what every confidence interval in stats/ is returned as.

namespace trilobite::stats {

/// A closed interval with low <= high.
struct Interval {
  double low = 0;
  double high = 0;

  double width() const { return high - low; }
  bool contains(double value) const { return low <= value && value <= high; }
  bool operator==(const Interval&) const = default;
};

}  // namespace trilobite::stats
