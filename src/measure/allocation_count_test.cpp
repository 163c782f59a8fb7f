#include "measure/allocation_count.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace trilobite {
namespace {

TEST(AllocationCount, counts_bytes_peak_and_calls_between_start_and_stop) {
  use_counting_malloc();
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer has replaced the allocator";
  auto before = std::make_unique<std::vector<char>>(1000);
  start_counting_allocations();
  {
    const std::vector<char> first(10'000);
    const std::vector<char> second(20'000);
  }
  const std::vector<char> third(5'000);
  const auto count = stop_counting_allocations();
  EXPECT_EQ(count.allocations, 3u);
  EXPECT_GE(count.allocated_bytes, 35'000u);
  EXPECT_LT(count.allocated_bytes, 36'000u);
  EXPECT_GE(count.peak_bytes, 30'000u);
  EXPECT_LT(count.peak_bytes, 31'000u);
}

TEST(AllocationCount,
     nothing_is_counted_while_it_is_off_and_releases_of_older_memory_do_not_underflow) {
  use_counting_malloc();
  auto old = std::make_unique<int[]>(1000);
  start_counting_allocations();
  old.reset();
  const auto count = stop_counting_allocations();
  EXPECT_EQ(count.allocations, 0u);
  EXPECT_EQ(count.peak_bytes, 0u);
}

}  // namespace
}  // namespace trilobite
