#include "harness/plan.hpp"

#include <gtest/gtest.h>

#include <set>

namespace trilobite {
namespace {

TEST(InterleavedSteps, every_round_visits_every_benchmark_once_in_its_own_order) {
  const auto steps = interleaved_steps(20, 3, 42);
  ASSERT_EQ(steps.size(), 60u);
  std::set<std::vector<size_t>> orders;
  for (size_t round = 0; round < 3; ++round) {
    std::vector<size_t> order;
    for (size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(steps[20 * round + i].round, round);
      order.push_back(steps[20 * round + i].benchmark);
    }
    orders.insert(order);
    EXPECT_EQ(std::set<size_t>(order.begin(), order.end()).size(), 20u);
  }
  EXPECT_EQ(orders.size(), 3u);
}

TEST(InterleavedSteps, the_order_depends_on_the_seed_only) {
  const auto order = [](uint64_t seed) {
    std::vector<size_t> result;
    for (const auto& step : interleaved_steps(50, 1, seed)) result.push_back(step.benchmark);
    return result;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(SamplesInRound, add_up_to_the_whole) {
  for (const size_t samples : {1u, 3u, 10u, 30u, 31u}) {
    size_t total = 0;
    for (size_t round = 0; round < 5; ++round) total += samples_in_round(samples, 5, round);
    EXPECT_EQ(total, samples);
  }
}

}  // namespace
}  // namespace trilobite
