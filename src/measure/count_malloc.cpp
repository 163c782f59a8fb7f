// Puts a counter in front of the C library's allocator, for this program and every library it
// loads. An object file of its own: a program takes it by calling use_counting_malloc(), the
// library leaves it alone.

#include <malloc.h>

#include <cerrno>
#include <cstddef>

#include "measure/allocation_count.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRILOBITE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define TRILOBITE_SANITIZED
#endif
#endif

#if defined(__GLIBC__) && !defined(TRILOBITE_SANITIZED)

extern "C" {

// glibc's own allocator under its second name, which stays reachable when the first one is
// replaced.
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);

static void* counted(void* memory) {
  if (memory != nullptr) trilobite::note_allocation(::malloc_usable_size(memory));
  return memory;
}

void* malloc(size_t bytes) noexcept { return counted(__libc_malloc(bytes)); }
void* calloc(size_t count, size_t bytes) noexcept { return counted(__libc_calloc(count, bytes)); }
void* memalign(size_t alignment, size_t bytes) noexcept {
  return counted(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return counted(__libc_memalign(alignment, bytes));
}

int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  *memory = counted(__libc_memalign(alignment, bytes));
  return *memory == nullptr ? ENOMEM : 0;
}

void free(void* memory) noexcept {
  if (memory != nullptr) trilobite::note_release(::malloc_usable_size(memory));
  __libc_free(memory);
}

void* realloc(void* memory, size_t bytes) noexcept {
  if (memory != nullptr) trilobite::note_release(::malloc_usable_size(memory));
  return counted(__libc_realloc(memory, bytes));
}

}  // extern "C"

void trilobite::use_counting_malloc() { say_that_allocations_are_counted(); }

#else

// Sanitizers have an allocator of their own, and other C libraries no second name: nothing is
// counted then.
void trilobite::use_counting_malloc() {}

#endif
