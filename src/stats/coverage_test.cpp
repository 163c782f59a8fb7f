// Does a 95 % interval hold the truth in 95 % of runs? 2,000 seeded runs each; the band 93-97 % is
// four standard errors of the count (0.49 points) wide on either side. The table in docs/adr/0006
// has the same experiments with 10,000 runs.

#include <gtest/gtest.h>

#include "stats/bootstrap.hpp"
#include "stats/describe.hpp"
#include "stats/median_interval.hpp"
#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

constexpr size_t kRuns = 2000;
// Fewer than the default 2,000, which would take minutes in Debug; see the note below the table.
constexpr size_t kResamples = 600;

struct Experiment {
  Population population;
  size_t n = 30;
};

using IntervalOf = std::function<Interval(const Sample&, uint64_t seed)>;

/// Per cent of runs whose interval holds `truth`.
double coverage(const Experiment& experiment, double truth, const IntervalOf& interval_of) {
  Engine engine(20240607);
  size_t covered = 0;
  for (size_t run = 0; run < kRuns; ++run) {
    const auto sample = draw_sample(experiment.population, experiment.n, engine);
    if (interval_of(sample, run).contains(truth)) ++covered;
  }
  return 100.0 * static_cast<double>(covered) / static_cast<double>(kRuns);
}

double median_coverage(const Population& population, size_t n) {
  return coverage({population, n}, population.median,
                  [](const Sample& sample, uint64_t) { return median_interval(sample); });
}

double mean_coverage(const Population& population, size_t n) {
  return coverage({population, n}, population.mean, [](const Sample& sample, uint64_t seed) {
    return mean_interval(sample, {.seed = seed, .resamples = kResamples});
  });
}

double bca_coverage(const Population& population, double truth, const Statistic& statistic) {
  return coverage({population, 30}, truth, [&](const Sample& sample, uint64_t seed) {
    return bca_interval(sample, statistic, {.seed = seed, .resamples = kResamples});
  });
}

double ratio_coverage(const Population& population, size_t n) {
  Engine engine(3);
  return coverage({population, n}, 1, [&](const Sample& sample, uint64_t seed) {
    const auto other = draw_sample(population, n, engine);
    return median_ratio_interval(sample, other, {.seed = seed, .resamples = kResamples}).value();
  });
}

void expect_in_band(double percent) {
  EXPECT_GE(percent, 93.0);
  EXPECT_LE(percent, 97.0);
}

TEST(Coverage, median_of_normal_data) { expect_in_band(median_coverage(normal_population(), 30)); }

TEST(Coverage, median_of_skewed_data) {
  expect_in_band(median_coverage(lognormal_population(0.5), 30));
}

TEST(Coverage, median_of_very_skewed_data) {
  expect_in_band(median_coverage(lognormal_population(1), 30));
}

TEST(Coverage, median_of_exponential_data) {
  expect_in_band(median_coverage(exponential_population(), 30));
}

TEST(Coverage, median_of_ten_skewed_values) {
  expect_in_band(median_coverage(lognormal_population(1), 10));
}

TEST(Coverage, mean_of_normal_data) { expect_in_band(mean_coverage(normal_population(), 30)); }

TEST(Coverage, mean_of_skewed_data) {
  expect_in_band(mean_coverage(lognormal_population(0.5), 30));
}

TEST(Coverage, mean_of_exponential_data) {
  expect_in_band(mean_coverage(exponential_population(), 30));
}

TEST(Coverage, mean_of_five_normal_values) {
  expect_in_band(mean_coverage(normal_population(), 5));
}

// A known limit, kept in sight: 30 values of skewness 6.2 rarely show the tail that makes the mean.
// No interval of the mean known to us reaches the band here; bootstrap-t comes closer than BCa.
TEST(Coverage, mean_of_very_skewed_data_falls_short_but_less_than_bca) {
  const auto population = lognormal_population(1);
  const double ours = mean_coverage(population, 30);
  const double bca = bca_coverage(population, population.mean, mean_of_sorted);
  EXPECT_GE(ours, 90.5);
  EXPECT_GE(ours, bca + 1.5);
}

TEST(Coverage, bca_of_the_mean_of_normal_data_is_a_little_narrow) {
  const double percent = bca_coverage(normal_population(), 100, mean_of_sorted);
  EXPECT_GE(percent, 92.0);
  EXPECT_LE(percent, 97.0);
}

TEST(Coverage, ratio_of_medians_of_normal_data) {
  expect_in_band(ratio_coverage(normal_population(), 30));
}

TEST(Coverage, ratio_of_medians_of_skewed_data) {
  expect_in_band(ratio_coverage(lognormal_population(0.5), 30));
}

}  // namespace
}  // namespace trilobite::stats
