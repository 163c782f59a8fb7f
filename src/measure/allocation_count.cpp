#include "measure/allocation_count.hpp"

#include <algorithm>
#include <atomic>

namespace trilobite {
namespace {

// Operators new and delete have no object to keep state in, so this is one of the few globals.
struct Counters {
  std::atomic<bool> available{false};
  std::atomic<bool> counting{false};
  std::atomic<uint64_t> allocations{0};
  std::atomic<uint64_t> allocated{0};
  std::atomic<int64_t> live{0};
  std::atomic<int64_t> peak{0};
};
constinit Counters counters;

}  // namespace

void start_counting_allocations() {
  counters.allocations = 0;
  counters.allocated = 0;
  counters.live = 0;
  counters.peak = 0;
  counters.counting = true;
}

AllocationCount stop_counting_allocations() {
  counters.counting = false;
  return {.allocations = counters.allocations,
          .allocated_bytes = counters.allocated,
          .peak_bytes = static_cast<uint64_t>(std::max<int64_t>(0, counters.peak))};
}

void note_allocation(size_t bytes) {
  if (!counters.counting.load(std::memory_order_relaxed)) return;
  ++counters.allocations;
  counters.allocated += bytes;
  const int64_t live = counters.live += static_cast<int64_t>(bytes);
  int64_t peak = counters.peak;
  while (live > peak && !counters.peak.compare_exchange_weak(peak, live)) {
  }
}

void note_release(size_t bytes) {
  if (!counters.counting.load(std::memory_order_relaxed)) return;
  counters.live -= static_cast<int64_t>(bytes);
}

bool allocations_are_counted() { return counters.available; }
void say_that_allocations_are_counted() { counters.available = true; }

}  // namespace trilobite
