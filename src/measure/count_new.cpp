// Replaces the global operators new and delete so that programs which measure can count
// allocations. An object file of its own: linking it is the program's decision, not the library's.

#include <malloc.h>

#include <cstdlib>
#include <new>

#include "measure/allocation_count.hpp"

namespace {

[[maybe_unused]] const bool kInstalled = (trilobite::say_that_allocations_are_counted(), true);

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  trilobite::note_allocation(::malloc_usable_size(memory));
  return memory;
}

void* allocate(size_t bytes) { return counted(std::malloc(bytes == 0 ? 1 : bytes)); }

void* allocate(size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<size_t>(alignment);
  return counted(std::aligned_alloc(step, (bytes + step - 1) / step * step));
}

void release(void* memory) noexcept {
  if (memory != nullptr) trilobite::note_release(::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(size_t bytes) { return allocate(bytes); }
void* operator new[](size_t bytes) { return allocate(bytes); }
void* operator new(size_t bytes, std::align_val_t alignment) { return allocate(bytes, alignment); }
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, alignment);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { release(memory); }
