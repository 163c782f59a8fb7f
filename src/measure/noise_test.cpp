#include "measure/noise.hpp"

#include <gtest/gtest.h>

#include "measure/environment.hpp"

namespace trilobite {
namespace {

TEST(CpuTimes, are_read_from_the_kernels_line) {
  const auto times = parse_cpu_times("cpu  10 20 30 40 5 6 7 8 0 0\ncpu0 1 1 1 1\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->total, 126);
  EXPECT_EQ(times->idle, 45);
  EXPECT_EQ(times->steal, 8);
  EXPECT_FALSE(parse_cpu_times(""));
  EXPECT_FALSE(parse_cpu_times("cpu 1 2 3"));
  EXPECT_FALSE(parse_cpu_times("intr 1 2 3 4 5 6 7 8"));
}

TEST(CpuTimes, steal_share_is_stolen_over_total) {
  EXPECT_DOUBLE_EQ(steal_share_between({100, 50, 10}, {300, 90, 30}), 0.1);
  EXPECT_DOUBLE_EQ(steal_share_between({100, 50, 10}, {100, 50, 10}), 0.0);
}

TEST(KernelNoiseCounters, never_go_back) {
  SteadyClock clock;
  KernelNoiseCounters counters(clock);
  const auto first = counters.read();
  const auto second = counters.read();
  EXPECT_GE(second.involuntary_switches, first.involuntary_switches);
  EXPECT_GE(second.steal_ticks, first.steal_ticks);
  EXPECT_GE(second.major_faults, first.major_faults);
}

}  // namespace
}  // namespace trilobite
