#include "verdict/segmentation.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "stats/test_data.hpp"

namespace trilobite::verdict {
namespace {

double squared_error(std::span<const double> values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

/// Optimal partitioning without pruning and without tricks: the reference.
std::vector<size_t> slow_segmentation(std::span<const double> values,
                                      const SegmentationSettings& settings) {
  const size_t n = values.size();
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::vector<size_t>> changes(n + 1);
  best[0] = -settings.penalty;
  for (size_t end = settings.shortest_segment; end <= n; ++end) {
    for (size_t begin = 0; begin + settings.shortest_segment <= end; ++begin) {
      const double cost =
          best[begin] + squared_error(values.subspan(begin, end - begin)) + settings.penalty;
      if (cost < best[end] - 1e-9) {
        best[end] = cost;
        changes[end] = changes[begin];
        if (begin > 0) changes[end].push_back(begin);
      }
    }
  }
  return changes[n];
}

TEST(Segmentation, equals_the_unpruned_search) {
  stats::Engine engine(5);
  for (const size_t n : std::initializer_list<size_t>{1, 2, 5, 6, 7, 30, 31, 90}) {
    for (const size_t shortest : std::initializer_list<size_t>{1, 2, 3, 5}) {
      for (const double penalty : {0.5, 4.0, 20.0}) {
        std::vector<double> values(n);
        for (size_t i = 0; i < n; ++i)
          values[i] = 1e6 + stats::normal(engine) + (i > n / 3 ? 3 : 0) - (i > 2 * n / 3 ? 5 : 0);
        const SegmentationSettings settings{penalty, shortest};
        EXPECT_EQ(best_segmentation(values, settings), slow_segmentation(values, settings))
            << n << " values, shortest " << shortest << ", penalty " << penalty;
      }
    }
  }
}

TEST(Segmentation, a_constant_series_has_no_change) {
  EXPECT_TRUE(best_segmentation(std::vector<double>(50, 3.25), {1e-9, 3}).empty());
}

TEST(Segmentation, long_series_without_many_changes_are_thinned_out_but_right) {
  stats::Engine engine(6);
  std::vector<double> values(12'000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = stats::normal(engine) + (i >= 2'500 ? 2 : 0) - (i >= 9'100 ? 3 : 0);
  const auto changes = best_segmentation(values, {40, 3});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_NEAR(static_cast<double>(changes[0]), 2'500, 3);
  EXPECT_NEAR(static_cast<double>(changes[1]), 9'100, 3);
}

TEST(Segmentation, an_empty_series_has_no_change) {
  EXPECT_TRUE(best_segmentation({}, {1, 3}).empty());
}

}  // namespace
}  // namespace trilobite::verdict
