#include "stats/describe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

// Known answers from numpy 1.24 and scipy 1.10; tools/check_stats.py compares many more.
TEST(Describe, agrees_with_numpy_on_a_known_sample) {
  const auto sample = make_sample({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(median(sample), 4.5);
  EXPECT_DOUBLE_EQ(mean(sample), 5);
  EXPECT_DOUBLE_EQ(sd(sample), 2.1380899352993952);
  EXPECT_DOUBLE_EQ(mad(sample), 0.5);
  EXPECT_DOUBLE_EQ(scaled_mad(sample), 0.5 * 1.4826022185056018);
  EXPECT_DOUBLE_EQ(percentile(sample, 25), 4);
  EXPECT_DOUBLE_EQ(percentile(sample, 95), 8.3);
}

TEST(Describe, a_single_value_is_its_own_centre_without_spread) {
  const auto sample = make_sample({3.5});
  for (const double figure : {median(sample), mean(sample), percentile(sample, 0),
                              percentile(sample, 99), percentile(sample, 100)}) {
    EXPECT_EQ(figure, 3.5);
  }
  EXPECT_EQ(sd(sample), 0);
  EXPECT_EQ(mad(sample), 0);
}

// 0.1 has no exact binary form: a plain sum of 30 of them is not 30 * 0.1, and sd would be 1e-17.
TEST(Describe, equal_values_have_exactly_no_spread) {
  const auto sample = make_sample(std::vector<double>(30, 0.1));
  EXPECT_EQ(mean(sample), 0.1);
  EXPECT_EQ(sd(sample), 0);
}

TEST(Describe, a_small_spread_on_a_high_level_keeps_its_digits) {
  EXPECT_DOUBLE_EQ(sd(make_sample({1e9 + 1, 1e9 + 2, 1e9 + 3})), 1);
}

TEST(Describe, the_largest_values_allowed_do_not_overflow) {
  const auto sample = make_sample({-kMaxMagnitude, kMaxMagnitude, kMaxMagnitude});
  for (const double figure : {mean(sample), sd(sample), mad(sample), percentile(sample, 10)}) {
    EXPECT_TRUE(std::isfinite(figure));
  }
}

TEST(Describe, percentiles_reach_from_the_least_to_the_greatest_value_and_never_fall) {
  Engine engine(1);
  const auto sample = draw_sample(lognormal_population(1), 37, engine);
  EXPECT_EQ(percentile(sample, 0), sample.min());
  EXPECT_EQ(percentile(sample, 100), sample.max());
  for (int percent = 0; percent < 100; ++percent) {
    EXPECT_LE(percentile(sample, percent), percentile(sample, percent + 1));
  }
}

TEST(Describe, the_order_of_the_values_does_not_matter) {
  Engine engine(2);
  std::vector<double> values(21);
  for (double& value : values) value = normal(engine);
  const auto sample = make_sample(values);
  std::ranges::reverse(values);
  std::swap(values[3], values[11]);
  const auto shuffled = make_sample(values);
  EXPECT_EQ(mean(sample), mean(shuffled));
  EXPECT_EQ(sd(sample), sd(shuffled));
  EXPECT_EQ(mad(sample), mad(shuffled));
}

TEST(Describe, centres_move_with_a_shift_and_everything_follows_a_scale) {
  Engine engine(3);
  for (const size_t n : {1U, 2U, 5U, 30U}) {
    const auto sample = draw_sample(lognormal_population(1), n, engine);
    std::vector<double> moved;
    for (const double value : sample.sorted()) moved.push_back(8 - 4 * value);
    const auto other = make_sample(moved);
    EXPECT_NEAR(median(other), 8 - 4 * median(sample), 1e-12);
    EXPECT_NEAR(mean(other), 8 - 4 * mean(sample), 1e-12);
    EXPECT_NEAR(sd(other), 4 * sd(sample), 1e-12);
    EXPECT_NEAR(mad(other), 4 * mad(sample), 1e-12);
    EXPECT_NEAR(percentile(other, 30), 8 - 4 * percentile(sample, 70), 1e-12);
  }
}

TEST(DescribeDeathTest, a_percentage_above_100_breaks_the_promise) {
  EXPECT_DEATH(percentile(make_sample({1, 2}), 101), "percent");
}

}  // namespace
}  // namespace trilobite::stats
