#include "harness/displacement.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "harness/child_process.hpp"

namespace trilobite {
namespace {

constexpr size_t kPage = 4096;

std::string place_in_page(const volatile void* address) {
  return std::to_string(reinterpret_cast<uintptr_t>(address) % kPage);
}

/// What a process that was moved says of a local variable or of a block of the heap.
std::string told_by_a_process(bool heap) {
  auto child = ChildProcess::start([&](ChildChannel& channel) {
    at_random_addresses([&] {
      volatile char local = 0;
      void* block = std::malloc(24 * kPage);  // too large for the holes in the heap
      channel.send(heap ? place_in_page(block) : place_in_page(&local));
      std::free(block);
    });
  });
  std::string line;
  if (!child || child->receive(line, std::chrono::seconds(10)) != ChildProcess::Reading::line)
    return "";
  return line;
}

void expect_many_places(bool heap) {
  std::set<std::string> places;
  for (int i = 0; i < 20; ++i) places.insert(told_by_a_process(heap));
  EXPECT_FALSE(places.contains(""));
  EXPECT_GT(places.size(), 10u);  // of 256; about 19 are expected
}

TEST(Displacement, copies_of_a_process_have_the_stack_elsewhere) { expect_many_places(false); }

#ifndef __SANITIZE_ADDRESS__  // whose heap gives large blocks pages of their own
TEST(Displacement, copies_of_a_process_have_the_heap_elsewhere) { expect_many_places(true); }
#endif

}  // namespace
}  // namespace trilobite
