#pragma once
// AlignedBuffer: a block of raw memory whose start is aligned for the widest vectors, and which
// asks for huge pages when it is large (4 KB pages cost up to a fifth of the read bandwidth).

#include <cstddef>
#include <span>

#include "base/error.hpp"

namespace trilobite {

/// Owns `size()` bytes, aligned to kAlignment and not initialised. Move-only.
class AlignedBuffer {
 public:
  /// Two cache lines: the adjacent-line prefetcher fetches pairs, so threads never share one.
  static constexpr size_t kAlignment = 128;

  /// Huge pages suit what is used as a whole; what fills up slowly should take memory page by page.
  enum class Pages { huge, ordinary };

  AlignedBuffer() = default;
  /// Fails with ErrorKind::input when `bytes` is more than the machine could ever hold.
  static Result<AlignedBuffer> allocate(size_t bytes, Pages pages = Pages::huge);

  ~AlignedBuffer();
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<std::byte> bytes() { return {data_, size_}; }

  /// The same memory seen as elements of T; the tail that holds no whole T is left out.
  template <typename T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_), size_ / sizeof(T)};
  }

 private:
  AlignedBuffer(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Physical memory of the machine in bytes; 0 when it cannot be read.
size_t physical_memory_bytes();

}  // namespace trilobite
