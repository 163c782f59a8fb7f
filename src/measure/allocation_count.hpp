#pragma once
// Counts what one piece of code allocates, while the count is switched on. Fed by a
// replaced malloc (count_malloc.cpp, linked into programs that measure).

#include <cstddef>
#include <cstdint>

namespace trilobite {

struct AllocationCount {
  uint64_t allocations = 0;
  uint64_t allocated_bytes = 0;
  uint64_t peak_bytes = 0;  // most bytes live at once, of those allocated since the start
};

void start_counting_allocations();
AllocationCount stop_counting_allocations();

/// Cost one relaxed load while nothing is counted. Thread-safe.
void note_allocation(size_t bytes);
void note_release(size_t bytes);

/// True when something feeds the count; otherwise there is nothing to report.
bool allocations_are_counted();
void say_that_allocations_are_counted();

/// Called by main(): links the replaced malloc into the program and feeds the count from it.
void use_counting_malloc();

}  // namespace trilobite
