#pragma once
// Sample: measured values that the rest of stats/ may rely on. Owns the check of the input and the
// sorting; what is computed from the values is in the other files of this folder.

#include <span>
#include <vector>

#include "base/error.hpp"

namespace trilobite::stats {

/// Largest magnitude of a value. Sums of cubes (bootstrap acceleration) of such values stay finite,
/// so no figure of a Sample can overflow; 1e100 ns is far longer than the universe is old.
inline constexpr double kMaxMagnitude = 1e100;

/// At least one value, all finite and at most kMaxMagnitude in size, sorted ascending.
class Sample {
 public:
  /// Takes the values in any order; fails on an empty list, NaN, infinite and too large values.
  static Result<Sample> from(std::vector<double> values);

  std::span<const double> sorted() const { return values_; }
  size_t size() const { return values_.size(); }
  double min() const { return values_.front(); }
  double max() const { return values_.back(); }
  bool is_constant() const { return min() == max(); }

 private:
  explicit Sample(std::vector<double> sorted) : values_(std::move(sorted)) {}
  std::vector<double> values_;
};

}  // namespace trilobite::stats
