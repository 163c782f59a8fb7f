#pragma once
// Values that come in groups: are those of one group more alike than chance makes them?

#include <cstddef>
#include <span>
#include <vector>

namespace trilobite::stats {

/// Several series of differences over the same groups.
struct GroupedSeries {
  std::vector<std::span<const double>> series;
  std::span<const size_t> groups;  // of each value; values of one group lie together
};

/// How many times as far the means of groups scatter (in variance) as they would if the values of a
/// group had nothing in common: about 1 when they have not, their number when they are all equal.
/// Differences from the middle of their series count up to the median size only, as in
/// sequential_symmetry.hpp. 1 where no group has two values.
double design_effect(const GroupedSeries& grouped);

/// The midmean of each group.
std::vector<double> group_midmeans(std::span<const double> values, std::span<const size_t> groups);

}  // namespace trilobite::stats
