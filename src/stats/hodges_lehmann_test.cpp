#include "stats/hodges_lehmann.hpp"

#include <gtest/gtest.h>

#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

TEST(HodgesLehmann, shift_is_the_median_of_all_differences) {
  const std::vector<double> first{1, 2, 4};
  const std::vector<double> second{3, 9};
  // differences: 2 1 -1 8 7 5
  EXPECT_DOUBLE_EQ(hodges_lehmann(first, second).value, 3.5);
  EXPECT_DOUBLE_EQ(hodges_lehmann(second, first).value, -3.5);
}

TEST(HodgesLehmann, single_values_give_the_point_itself) {
  const auto shift = hodges_lehmann(std::vector<double>{2}, std::vector<double>{5});
  EXPECT_DOUBLE_EQ(shift.value, 3);
  EXPECT_EQ(shift.interval, (Interval{3, 3}));
}

TEST(HodgesLehmann, one_wild_value_does_not_move_it) {
  std::vector<double> first(20, 1.0);
  std::vector<double> second(20, 2.0);
  second[7] = 1e9;
  EXPECT_DOUBLE_EQ(hodges_lehmann(first, second).value, 1);
}

TEST(HodgesLehmann, interval_holds_the_true_shift_in_95_percent) {
  Engine engine(11);
  for (const auto& [m, n] : {std::pair{20, 20}, std::pair{8, 30}}) {
    int held = 0;
    constexpr int kRuns = 1500;
    for (int run = 0; run < kRuns; ++run) {
      std::vector<double> first(static_cast<size_t>(m));
      std::vector<double> second(static_cast<size_t>(n));
      for (auto& value : first) value = normal(engine);
      for (auto& value : second) value = 0.7 + normal(engine);
      held += hodges_lehmann(first, second).interval.contains(0.7);
    }
    EXPECT_GT(held, kRuns * 0.93) << m << " against " << n;
    EXPECT_LT(held, kRuns * 0.975) << m << " against " << n;
  }
}

}  // namespace
}  // namespace trilobite::stats
