#include "stats/theil_sen.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

TEST(TheilSen, finds_an_exact_line) {
  const std::vector<double> x = {0, 1, 2, 3, 4};
  const std::vector<double> y = {1, 3, 5, 7, 9};
  const auto line = theil_sen(x, y).value();
  EXPECT_EQ(line.slope, 2);
  EXPECT_EQ(line.intercept, 1);
  EXPECT_EQ(line.slope_interval, (Interval{2, 2}));
}

TEST(TheilSen, a_quarter_of_wild_points_does_not_move_it_far) {
  std::vector<double> x;
  std::vector<double> y;
  Engine engine(5);
  for (int i = 0; i < 40; ++i) {
    x.push_back(i);
    y.push_back(i % 4 == 0 ? 1e6 : 3 * i + normal(engine));
  }
  const auto line = theil_sen(x, y).value();
  EXPECT_NEAR(line.slope, 3, 0.3);
}

TEST(TheilSen, two_points_make_a_line) {
  const auto line = theil_sen(std::vector<double>{1, 3}, std::vector<double>{2, 8}).value();
  EXPECT_EQ(line.slope, 3);
  EXPECT_EQ(line.intercept, -1);
}

TEST(TheilSen, refuses_what_has_no_slope) {
  const std::vector<double> two = {1, 2};
  const std::vector<double> same = {4, 4};
  const std::vector<double> bad = {1, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THAT(theil_sen(two, std::vector<double>{1}).error().message(),
              testing::HasSubstr("as many"));
  EXPECT_THAT(theil_sen(same, two).error().message(), testing::HasSubstr("two different x"));
  EXPECT_THAT(theil_sen({}, {}).error().message(), testing::HasSubstr("empty"));
  EXPECT_THAT(theil_sen(two, bad).error().message(), testing::HasSubstr("not a number"));
}

TEST(TheilSen, the_interval_holds_the_true_slope_in_95_per_cent_of_runs) {
  Engine engine(6);
  const int runs = 2000;
  int covered = 0;
  std::vector<double> x(20);
  std::vector<double> y(20);
  for (int run = 0; run < runs; ++run) {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<double>(i);
      y[i] = 7 - 0.5 * x[i] + std::exp(normal(engine));
    }
    covered += theil_sen(x, y)->slope_interval.contains(-0.5) ? 1 : 0;
  }
  EXPECT_GE(covered, runs * 93 / 100);
  EXPECT_LE(covered, runs * 97 / 100);
}

}  // namespace
}  // namespace trilobite::stats
