#pragma once
// MappedFile: a file's bytes in memory without reading them first. Read-only.

#include <cstddef>
#include <span>

#include "base/error.hpp"
#include "base/file.hpp"

namespace trilobite {

/// Owns the mapping. Move-only. An empty file is a valid, empty mapping.
class MappedFile {
 public:
  static Result<MappedFile> open(const Path& path);

  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// Gives the memory of `part`, which lies in bytes(), back to the system, whole pages of it; it
  /// is read from the file again when it is used again.
  void release(std::span<const std::byte> part) const;

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace trilobite
