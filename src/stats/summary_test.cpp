#include "stats/summary.hpp"

#include <gtest/gtest.h>

#include "stats/bootstrap.hpp"
#include "stats/describe.hpp"
#include "stats/median_interval.hpp"
#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

TEST(Summary, holds_what_the_single_functions_say) {
  Engine engine(7);
  const auto sample = draw_sample(lognormal_population(1), 50, engine);
  const auto summary = summarize(sample, 11);
  EXPECT_EQ(summary.n, 50);
  EXPECT_EQ(summary.median, median(sample));
  EXPECT_EQ(summary.mean, mean(sample));
  EXPECT_EQ(summary.sd, sd(sample));
  EXPECT_EQ(summary.mad, mad(sample));
  EXPECT_EQ(summary.min, sample.min());
  EXPECT_EQ(summary.max, sample.max());
  EXPECT_EQ(summary.p50, summary.median);
  EXPECT_EQ(summary.p95, percentile(sample, 95));
  EXPECT_EQ(summary.p99, percentile(sample, 99));
  EXPECT_EQ(summary.median_ci95, median_interval(sample, 0.95));
  EXPECT_EQ(summary.mean_ci95, mean_interval(sample, {.seed = 11}));
  EXPECT_EQ(summary.outliers, count_outliers(sample));
}

TEST(Summary, of_a_single_value_is_that_value_without_spread) {
  const auto summary = summarize(make_sample({5}), 1);
  EXPECT_EQ(summary.n, 1);
  EXPECT_EQ(summary.p99, 5);
  EXPECT_EQ(summary.sd, 0);
  EXPECT_EQ(summary.median_ci95, (Interval{5, 5}));
  EXPECT_EQ(summary.mean_ci95, (Interval{5, 5}));
}

}  // namespace
}  // namespace trilobite::stats
