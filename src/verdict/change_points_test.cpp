#include "verdict/change_points.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "stats/test_data.hpp"

namespace trilobite::verdict {
namespace {

struct Step {
  size_t at;
  double factor;
};

std::vector<double> noisy_levels(size_t n, const std::vector<Step>& steps, double noise,
                                 uint64_t seed) {
  stats::Engine engine(seed);
  std::vector<double> values(n);
  for (size_t i = 0; i < n; ++i) {
    double level = 100;
    for (const auto& step : steps)
      if (i >= step.at) level *= step.factor;
    values[i] = level * std::exp(noise * stats::normal(engine));
  }
  return values;
}

TEST(ChangePoints, steps_are_found_where_they_are_with_their_size) {
  const auto values = noisy_levels(400, {{100, 1.1}, {250, 0.8}}, 0.01, 1);
  const auto points = find_change_points(values);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NEAR(static_cast<double>(points[0].index), 100, 1);
  EXPECT_NEAR(static_cast<double>(points[1].index), 250, 1);
  EXPECT_NEAR(points[0].change, 0.1, 0.01);
  EXPECT_TRUE(points[0].interval.contains(0.1));
  EXPECT_TRUE(points[1].interval.contains(-0.2));
  EXPECT_NEAR(points[0].before, 100, 1);
  EXPECT_NEAR(points[1].after, 88, 1);
  EXPECT_LT(points[0].p_value, 1e-6);
  EXPECT_GT(points[0].support, 0.5);
}

TEST(ChangePoints, a_step_is_seen_within_a_few_points_of_the_end) {
  const auto points = find_change_points(noisy_levels(300, {{294, 1.15}}, 0.01, 3));
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(static_cast<double>(points[0].index), 294, 1);
}

TEST(ChangePoints, the_order_of_magnitude_does_not_matter) {
  const auto values = noisy_levels(300, {{120, 1.05}}, 0.01, 4);
  for (const double factor : {1e-9, 1.0, 1e12}) {
    auto scaled = values;
    for (auto& value : scaled) value *= factor;
    const auto points = find_change_points(scaled);
    ASSERT_EQ(points.size(), 1u) << factor;
    EXPECT_NEAR(static_cast<double>(points[0].index), 120, 2);
  }
}

TEST(ChangePoints, white_noise_rarely_has_any) {
  int series_with_changes = 0;
  constexpr int kSeries = 200;
  for (uint64_t seed = 0; seed < kSeries; ++seed)
    series_with_changes += !find_change_points(noisy_levels(150, {}, 0.03, seed)).empty();
  EXPECT_LE(series_with_changes, kSeries / 50);
}

TEST(ChangePoints, single_outliers_are_not_changes) {
  auto values = noisy_levels(200, {}, 0.01, 9);
  for (const size_t i : std::initializer_list<size_t>{20, 21, 77, 150}) values[i] *= 3;
  EXPECT_TRUE(find_change_points(values).empty());
}

TEST(ChangePoints, constant_and_short_series_have_none) {
  EXPECT_TRUE(find_change_points({}).empty());
  EXPECT_TRUE(find_change_points(std::vector<double>{1}).empty());
  EXPECT_TRUE(find_change_points(std::vector<double>{1, 9}).empty());
  EXPECT_TRUE(find_change_points(std::vector<double>(100, 5.0)).empty());
  EXPECT_TRUE(find_change_points(std::vector<double>(100, 0.0)).empty());
}

TEST(ChangePoints, a_step_between_two_constant_levels_is_exact) {
  std::vector<double> values(60, 10.0);
  values.resize(100, 12.0);
  const auto points = find_change_points(values);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].index, 60u);
  EXPECT_NEAR(points[0].change, 0.2, 1e-12);
}

TEST(ChangePoints, series_with_zeros_and_negative_values_are_judged_by_differences) {
  auto values = noisy_levels(300, {{150, 1.5}}, 0.01, 12);
  for (auto& value : values) value -= 100;  // noise around 0, then around 50
  const auto points = find_change_points(values);
  ASSERT_GE(points.size(), 1u);
  EXPECT_NEAR(static_cast<double>(points[0].index), 150, 2);
  EXPECT_GT(points[0].after - points[0].before, 40);
  std::vector<double> extreme(50, 0.0);
  extreme.resize(80, 1e100);
  extreme[3] = -1e-300;
  for (const auto& point : find_change_points(extreme)) EXPECT_TRUE(std::isfinite(point.change));
}

/// Changes found in ten series that have none.
size_t found_in_ten(const std::function<double(stats::Engine&)>& draw) {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    stats::Engine engine(seed);
    std::vector<double> values;
    while (values.size() < 400) values.push_back(draw(engine));
    found += find_change_points(values).size();
  }
  return found;
}

TEST(ChangePoints, values_of_two_modes_or_of_few_whole_numbers_have_no_steps) {
  EXPECT_EQ(found_in_ten([](auto& engine) { return stats::uniform(engine) < 0.5 ? 100 : 110; }),
            0u);
  EXPECT_EQ(found_in_ten([](auto& engine) { return stats::uniform(engine) < 0.8 ? 100 : 110; }),
            0u);
  EXPECT_LE(found_in_ten([](auto& engine) { return 100 + std::floor(3 * stats::uniform(engine)); }),
            1u);
}

TEST(ChangePoints, no_interval_of_a_change_contains_0) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto values = noisy_levels(200, {{60, 1.01}, {120, 0.995}}, 0.01, seed);
    for (const auto& point : find_change_points(values)) EXPECT_FALSE(point.interval.contains(0));
  }
}

}  // namespace
}  // namespace trilobite::verdict
