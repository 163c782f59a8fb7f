#include "harness/displacement.hpp"

#include <alloca.h>
#include <sys/mman.h>

#include <cstdlib>
#include <random>

namespace trilobite {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kAlignment = 16;  // of the heap and of the stack

size_t random_below(size_t count) { return std::random_device()() % count; }

size_t part_of_a_page() { return kAlignment * (1 + random_below(kPage / kAlignment)); }

void map_pages(size_t count, int protection, int flags) {
  // Without them the process lies where it lies: noisier, not wrong.
  (void)::mmap(nullptr, count * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

}  // namespace

void at_random_addresses(const std::function<void()>& work) {
  map_pages(1 + random_below(64), PROT_NONE, 0);
  // So large that it comes from the end of the heap, not out of a hole, and moves that end.
  void* const heap = std::malloc(16 * kPage + part_of_a_page());
  void* const stack = alloca(part_of_a_page());
  asm volatile("" : : "r"(heap), "r"(stack) : "memory");  // or the compiler leaves both out
  work();
  std::free(heap);
}

void take_random_pages() { map_pages(1 + random_below(256), PROT_READ | PROT_WRITE, MAP_POPULATE); }

}  // namespace trilobite
