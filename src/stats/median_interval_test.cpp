#include "stats/median_interval.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "stats/describe.hpp"
#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

Sample one_to(size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return make_sample(values);
}

// By hand for n = 10: depth 2 covers 1 - 2 * 11/1024 = 97.85 %, depth 3 covers 89.06 %.
// share = 0.3244..., weight = 8 * share / (2 + 6 * share) = 0.6577...
TEST(MedianInterval, interpolates_as_hettmansperger_and_sheather_do) {
  const double share = (0.978515625 - 0.95) / (0.978515625 - 0.890625);
  const double weight = 8 * share / (2 + 6 * share);
  const auto interval = median_interval(one_to(10));
  EXPECT_NEAR(interval.low, 2 + weight, 1e-12);
  EXPECT_NEAR(interval.high, 9 - weight, 1e-12);
}

TEST(MedianInterval, is_the_range_when_the_sample_is_too_small) {
  for (size_t n = 1; n <= 5; ++n) {
    EXPECT_LT(largest_median_confidence(n), 0.95);
    EXPECT_EQ(median_interval(one_to(n)), (Interval{1, static_cast<double>(n)}));
  }
  EXPECT_GT(largest_median_confidence(6), 0.95);
  EXPECT_GT(median_interval(one_to(6)).low, 1);
}

TEST(MedianInterval, of_a_constant_sample_has_zero_width) {
  EXPECT_EQ(median_interval(make_sample(std::vector<double>(30, 0.1))), (Interval{0.1, 0.1}));
}

TEST(MedianInterval, holds_the_median_and_widens_with_the_confidence) {
  for (size_t n = 1; n <= 40; ++n) {
    const auto sample = one_to(n);
    auto inner = median_interval(sample, 0.001);
    for (const double confidence : {0.1, 0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.9999}) {
      const auto outer = median_interval(sample, confidence);
      EXPECT_TRUE(outer.contains(median(sample))) << n << " at " << confidence;
      EXPECT_LE(outer.low, inner.low) << n << " at " << confidence;
      EXPECT_GE(outer.high, inner.high) << n << " at " << confidence;
      inner = outer;
    }
  }
}

TEST(MedianInterval, narrows_with_the_root_of_the_sample_size) {
  const double hundred = median_interval(one_to(100)).width() / 100;
  const double ten_thousand = median_interval(one_to(10'000)).width() / 10'000;
  EXPECT_NEAR(hundred / ten_thousand, 10, 0.2);
}

}  // namespace
}  // namespace trilobite::stats
