#pragma once
// The best division of a series into stretches of constant mean, for a given price per change.

#include <cstddef>
#include <span>
#include <vector>

namespace trilobite::verdict {

struct SegmentationSettings {
  double penalty = 0;           // price of one change, in squared units of the values
  size_t shortest_segment = 3;  // at least 1
};

/// The first points of the second and every further stretch, ascending: the division with the least
/// sum of squared distances from the stretches' means plus `penalty` per change. PELT (Killick et
/// al. 2012): exact up to some thousand points without a change; beyond, distant beginnings are
/// thinned out, so that time grows with the length.
std::vector<size_t> best_segmentation(std::span<const double> values,
                                      const SegmentationSettings& settings);

}  // namespace trilobite::verdict
