#include "stats/outliers.hpp"

#include <gtest/gtest.h>

#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

TEST(Outliers, each_class_is_counted_once) {
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(i);
  values.insert(values.end(), {-100, -15, 34, 100});
  // Positions 5.75 and 17.25 of the 24 sorted values: Q1 = 3.75, Q3 = 15.25, IQR = 11.5;
  // fences at -13.5 and 32.5 (mild), -30.75 and 49.75 (severe).
  const Outliers expected{.low_severe = 1, .low_mild = 1, .high_mild = 1, .high_severe = 1};
  EXPECT_EQ(count_outliers(make_sample(values)), expected);
  EXPECT_EQ(expected.total(), 4);
}

TEST(Outliers, a_constant_sample_has_none) {
  EXPECT_EQ(count_outliers(make_sample({5, 5, 5, 5})), Outliers{});
  EXPECT_EQ(count_outliers(make_sample({5})), Outliers{});
}

TEST(Outliers, a_value_on_the_fence_is_inside) {
  // Q1 = 1, Q3 = 3, IQR = 2: the upper fence is 6.
  EXPECT_EQ(count_outliers(make_sample({0, 1, 2, 3, 6})).total(), 0);
  EXPECT_EQ(count_outliers(make_sample({0, 1, 2, 3, 6.001})).high_mild, 1);
}

TEST(Outliers, without_spread_between_the_quartiles_every_stranger_is_severe) {
  const auto outliers = count_outliers(make_sample({1, 1, 1, 1, 1, 1, 1, 2}));
  EXPECT_EQ(outliers, (Outliers{.high_severe = 1}));
}

TEST(Outliers, shift_and_scale_change_nothing_and_a_mirror_swaps_sides) {
  Engine engine(4);
  const auto sample = draw_sample(lognormal_population(1), 200, engine);
  std::vector<double> moved;
  std::vector<double> mirrored;
  for (const double value : sample.sorted()) {
    moved.push_back(16 + 8 * value);
    mirrored.push_back(-value);
  }
  const auto outliers = count_outliers(sample);
  EXPECT_GT(outliers.total(), 0);
  EXPECT_EQ(count_outliers(make_sample(moved)), outliers);
  EXPECT_EQ(count_outliers(make_sample(mirrored)).low_severe, outliers.high_severe);
  EXPECT_EQ(count_outliers(make_sample(mirrored)).low_mild, outliers.high_mild);
}

}  // namespace
}  // namespace trilobite::stats
