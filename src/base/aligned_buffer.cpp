#include "base/aligned_buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace trilobite {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

size_t physical_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<size_t>(pages) * static_cast<size_t>(page_bytes);
}

Result<AlignedBuffer> AlignedBuffer::allocate(size_t bytes, Pages pages) {
  // Linux overcommits: without this test an absurd request would succeed and kill the process
  // later.
  const size_t machine = physical_memory_bytes();
  if (machine != 0 && bytes > machine) {
    return fail(
        fmt::format("{} bytes of memory were asked for, this machine has {}; use a smaller size",
                    bytes, machine),
        ErrorKind::environment);
  }
  if (bytes == 0) return AlignedBuffer();
  const bool huge = pages == Pages::huge && bytes >= 2 * kHugePage;
  void* memory = nullptr;
  if (::posix_memalign(&memory, huge ? kHugePage : kAlignment, round_up(bytes, kAlignment)) != 0) {
    return fail(
        fmt::format("out of memory: {} bytes could not be allocated; close other programs or use "
                    "a smaller size",
                    bytes),
        ErrorKind::environment);
  }
  // A hint: failing changes speed only. What does not fill a huge page stays on small ones: a model
  // of hundreds of matrices would waste half a huge page on each.
  if (huge) ::madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return AlignedBuffer(static_cast<std::byte*>(memory), bytes);
}

AlignedBuffer::~AlignedBuffer() { std::free(data_); }

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace trilobite
