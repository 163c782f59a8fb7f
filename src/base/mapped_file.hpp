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

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace trilobite
