#include "stats/sequential_t.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

TEST(SequentialT, looking_after_every_value_stays_within_alpha) {
  Engine engine(21);
  constexpr int kRuns = 3000;
  constexpr double kAlpha = 0.05;
  int fired = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> values;
    bool crossed = false;
    while (values.size() < 60 && !crossed) {
      values.push_back(3 * normal(engine));
      crossed = e_value(values) >= 1 / kAlpha;
    }
    fired += crossed;
  }
  EXPECT_LE(fired, kRuns * kAlpha);
  EXPECT_GT(fired, kRuns * kAlpha / 10);  // valid, not useless
}

TEST(SequentialT, a_real_mean_is_soon_seen) {
  Engine engine(22);
  int values_needed = 0;
  for (int run = 0; run < 200; ++run) {
    std::vector<double> values;
    do {
      values.push_back(1 + 0.3 * normal(engine));
    } while (e_value(values) < 100);
    values_needed += static_cast<int>(values.size());
  }
  EXPECT_LT(values_needed / 200, 9);
}

TEST(SequentialT, the_sequence_is_where_the_e_value_reaches_its_limit) {
  const std::vector<double> values{1.2, 0.9, 1.1, 1.3, 0.8, 1.0, 1.15};
  const auto interval = confidence_sequence(values, 0.01);
  EXPECT_NEAR(e_value(values, interval.low), 100, 1e-6);
  EXPECT_NEAR(e_value(values, interval.high), 100, 1e-6);
  EXPECT_LT(e_value(values, 1.06), 1);
}

TEST(SequentialT, few_or_constant_values_are_defined) {
  EXPECT_EQ(e_value({}), 1);
  EXPECT_EQ(e_value(std::vector<double>{5}), 1);
  EXPECT_EQ(e_value(std::vector<double>{5, 5}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(e_value(std::vector<double>{0, 0}), 1);
  EXPECT_TRUE(std::isinf(confidence_sequence(std::vector<double>{1, 2}, 0.01).high));
}

}  // namespace
}  // namespace trilobite::stats
