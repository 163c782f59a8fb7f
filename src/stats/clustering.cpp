#include "stats/clustering.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/midmean.hpp"

namespace trilobite::stats {
namespace {

/// f(first, count) for each run of equal groups.
template <typename F>
void for_groups(std::span<const size_t> groups, F f) {
  for (size_t first = 0; first < groups.size();) {
    size_t last = first + 1;
    while (last < groups.size() && groups[last] == groups[first]) ++last;
    f(first, last - first);
    first = last;
  }
}

/// Between -1 and 1, with the median size as 1.
std::vector<double> in_median_sizes(std::vector<double> values) {
  std::vector<double> sizes;
  for (const double value : values) sizes.push_back(std::abs(value));
  std::ranges::nth_element(sizes, sizes.begin() + static_cast<ptrdiff_t>(sizes.size() / 2));
  const double typical = sizes[sizes.size() / 2];
  for (double& value : values)
    value = typical > 0 ? std::clamp(value / typical, -1.0, 1.0) : (value > 0) - (value < 0);
  return values;
}

/// Sums of squares and what they are divided by.
struct Scatter {
  double between = 0;
  double within = 0;
  double between_freedom = 0;
  double within_freedom = 0;

  void add(std::span<const double> values, std::span<const size_t> groups) {
    for_groups(groups, [&](size_t first, size_t count) {
      const auto group = values.subspan(first, count);
      double mean = 0;
      for (const double value : group) mean += value / static_cast<double>(count);
      for (const double value : group) within += (value - mean) * (value - mean);
      between += static_cast<double>(count) * mean * mean;
      between_freedom += 1;
      within_freedom += static_cast<double>(count - 1);
    });
  }
};

}  // namespace

double design_effect(const GroupedSeries& grouped) {
  Scatter scatter;
  for (const auto series : grouped.series) {
    if (series.empty()) continue;
    std::vector<double> values(series.begin(), series.end());
    const double middle = midmean(values);
    for (double& value : values) value -= middle;
    scatter.add(in_median_sizes(std::move(values)), grouped.groups);
    scatter.between_freedom -= 1;
  }
  if (scatter.within_freedom == 0 || scatter.between_freedom <= 0) return 1;
  const double between = scatter.between / scatter.between_freedom;
  const double within = scatter.within / scatter.within_freedom;
  if (within == 0) return between == 0 ? 1 : std::numeric_limits<double>::infinity();
  return between / within;
}

std::vector<double> group_midmeans(std::span<const double> values, std::span<const size_t> groups) {
  std::vector<double> means;
  for_groups(groups, [&](size_t first, size_t count) {
    const auto group = values.subspan(first, count);
    means.push_back(midmean({group.begin(), group.end()}));
  });
  return means;
}

}  // namespace trilobite::stats
