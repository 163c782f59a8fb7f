#include "harness/displacement.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <set>

namespace trilobite {
namespace {

constexpr size_t kPage = 4096;

TEST(Displacement, stack_and_heap_lie_elsewhere_every_time) {
  std::set<uintptr_t> stack;
  std::set<uintptr_t> heap;
  for (int i = 0; i < 40; ++i) {
    at_random_addresses([&] {
      volatile char local = 0;
      stack.insert(reinterpret_cast<uintptr_t>(&local) % kPage);
      void* block = std::malloc(4 * kPage);
      heap.insert(reinterpret_cast<uintptr_t>(block) % kPage);
      std::free(block);
    });
  }
  // Of 256 places forty draws hit about 37.
  EXPECT_GT(stack.size(), 20u);
  EXPECT_GT(heap.size(), 20u);
}

}  // namespace
}  // namespace trilobite
