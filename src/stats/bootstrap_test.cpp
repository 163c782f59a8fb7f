#include "stats/bootstrap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stats/describe.hpp"
#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

Sample skewed_sample(size_t n, uint64_t seed) {
  Engine engine(seed);
  return draw_sample(lognormal_population(0.5), n, engine);
}

TEST(Resampler, draws_sorted_values_of_the_original_each_equally_often) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 5, 6};
  Engine engine(1);
  Resampler resampler(values, engine);
  std::vector<int> seen(values.size());
  for (int i = 0; i < 10'000; ++i) {
    const auto resample = resampler.draw();
    ASSERT_EQ(resample.size(), values.size());
    ASSERT_TRUE(std::ranges::is_sorted(resample));
    for (const double value : resample) ++seen[static_cast<size_t>(value)];
  }
  // Each count is binomial with mean 10,000 and deviation 93; five deviations either way.
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 465);
}

TEST(Bootstrap, interval_of_a_constant_sample_has_zero_width) {
  const auto sample = make_sample(std::vector<double>(30, 0.1));
  EXPECT_EQ(bca_interval(sample, mean_of_sorted), (Interval{0.1, 0.1}));
  EXPECT_EQ(bca_interval(sample, median_of_sorted), (Interval{0.1, 0.1}));
  EXPECT_EQ(mean_interval(sample), (Interval{0.1, 0.1}));
  EXPECT_EQ(median_ratio_interval(sample, sample).value(), (Interval{1, 1}));
}

TEST(Bootstrap, interval_of_a_single_value_is_that_value) {
  const auto sample = make_sample({4});
  EXPECT_EQ(bca_interval(sample, mean_of_sorted), (Interval{4, 4}));
  EXPECT_EQ(mean_interval(sample), (Interval{4, 4}));
  EXPECT_EQ(median_ratio_interval(sample, make_sample({2})).value(), (Interval{2, 2}));
}

TEST(Bootstrap, the_same_seed_gives_the_same_interval_and_another_seed_another) {
  const auto sample = skewed_sample(30, 5);
  const BootstrapOptions one{.seed = 1};
  const BootstrapOptions two{.seed = 2};
  EXPECT_EQ(bca_interval(sample, mean_of_sorted, one), bca_interval(sample, mean_of_sorted, one));
  EXPECT_NE(bca_interval(sample, mean_of_sorted, one), bca_interval(sample, mean_of_sorted, two));
  EXPECT_EQ(mean_interval(sample, one), mean_interval(sample, one));
  EXPECT_NE(mean_interval(sample, one), mean_interval(sample, two));
}

// The draws are fixed by the standard; a change of these numbers changes every stored interval.
TEST(Bootstrap, the_intervals_of_a_known_sample_and_seed_are_what_they_always_were) {
  const auto sample = make_sample({12, 15, 11, 14, 19, 13, 12, 16, 40, 13, 14, 12});
  const BootstrapOptions options{.seed = 2024};
  const auto mean_bca = bca_interval(sample, mean_of_sorted, options);
  EXPECT_NEAR(mean_bca.low, 13.25, 1e-9);
  EXPECT_NEAR(mean_bca.high, 25.043088768197812, 1e-9);
  const auto mean_t = mean_interval(sample, options);
  EXPECT_NEAR(mean_t.low, 12.597729171273295, 1e-9);
  EXPECT_NEAR(mean_t.high, 34.570246124929277, 1e-9);
}

TEST(Bootstrap, intervals_hold_the_estimate_and_widen_with_the_confidence) {
  for (const size_t n : {2U, 3U, 9U, 10U, 30U, 200U}) {
    const auto sample = skewed_sample(n, n);
    const auto narrow = mean_interval(sample, {.confidence = 0.8});
    const auto wide = mean_interval(sample, {.confidence = 0.99});
    EXPECT_TRUE(narrow.contains(mean(sample))) << n;
    EXPECT_LT(wide.low, narrow.low) << n;
    EXPECT_GT(wide.high, narrow.high) << n;
    EXPECT_TRUE(std::isfinite(wide.width()));
    const auto spread = bca_interval(sample, [](auto sorted) { return sorted.back(); });
    EXPECT_LE(spread.low, spread.high) << n;
  }
}

TEST(Bootstrap, intervals_follow_shift_and_scale) {
  const auto sample = skewed_sample(30, 6);
  std::vector<double> moved;
  for (const double value : sample.sorted()) moved.push_back(8 + 4 * value);
  const auto other = make_sample(moved);
  const auto bca = bca_interval(sample, mean_of_sorted);
  EXPECT_NEAR(bca_interval(other, mean_of_sorted).low, 8 + 4 * bca.low, 1e-9);
  EXPECT_NEAR(bca_interval(other, mean_of_sorted).high, 8 + 4 * bca.high, 1e-9);
  const auto studentised = mean_interval(sample);
  EXPECT_NEAR(mean_interval(other).low, 8 + 4 * studentised.low, 1e-9);
  EXPECT_NEAR(mean_interval(other).high, 8 + 4 * studentised.high, 1e-9);
}

// 29 equal readings of a coarse clock and one late: a third of the resamples are constant and the
// studentised mean of those is infinite.
TEST(Bootstrap, interval_of_the_mean_stays_finite_when_nearly_all_values_are_tied) {
  std::vector<double> values(30, 1000.0);
  values.back() = 1100;
  const auto interval = mean_interval(make_sample(values));
  EXPECT_TRUE(std::isfinite(interval.low) && std::isfinite(interval.high));
  EXPECT_TRUE(interval.contains(1000 + 100.0 / 30));
}

TEST(Bootstrap, extreme_options_still_give_an_ordered_interval) {
  const auto sample = skewed_sample(30, 8);
  for (const size_t resamples : {1U, 2U, 10U}) {
    for (const double confidence : {0.01, 0.999999999999}) {
      const BootstrapOptions options{.resamples = resamples, .confidence = confidence};
      const auto bca = bca_interval(sample, median_of_sorted, options);
      EXPECT_LE(bca.low, bca.high);
      const auto ratio = median_ratio_interval(sample, sample, options).value();
      EXPECT_LE(ratio.low, ratio.high);
    }
  }
}

TEST(MedianRatio, of_twice_the_times_is_two) {
  const auto slow = make_sample({2, 2, 2, 2, 2});
  const auto fast = make_sample({1, 1, 1, 1});
  EXPECT_EQ(median_ratio_interval(slow, fast).value(), (Interval{2, 2}));
  const auto sample = skewed_sample(30, 9);
  EXPECT_TRUE(median_ratio_interval(sample, sample)->contains(1));
}

TEST(MedianRatio, a_denominator_that_is_not_positive_is_an_error) {
  const auto ratio = median_ratio_interval(make_sample({1, 2}), make_sample({0, 1}));
  ASSERT_FALSE(ratio);
  EXPECT_THAT(ratio.error().message(), testing::HasSubstr("above zero"));
}

}  // namespace
}  // namespace trilobite::stats
