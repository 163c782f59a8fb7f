#pragma once
// GGUF files, versions 2 and 3, little-endian: metadata and tensors as views into the file's bytes.
// Nothing in a file is trusted: every count, length and offset is checked before it is used, and
// memory is taken only for what the file really holds. docs/formats/gguf.md has the layout.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "gguf/tensor_type.hpp"
#include "gguf/value.hpp"

namespace trilobite::gguf {

inline constexpr size_t kMaxDimensions = 4;
inline constexpr uint64_t kDefaultAlignment = 32;
inline constexpr size_t kLongestKey = 65535;

struct Entry {
  std::string_view key;
  Value value;
};

struct TensorInfo {
  std::string_view name;
  std::array<uint64_t, kMaxDimensions> dimensions{1, 1, 1, 1};  // fastest first: columns, rows, ...
  size_t dimension_count = 0;
  const TypeFacts* type = nullptr;
  std::span<const std::byte> data;

  size_t columns() const { return dimensions[0]; }
  size_t rows() const { return dimensions[1] * dimensions[2] * dimensions[3]; }
  size_t elements() const { return columns() * rows(); }
  /// "4096x32000", fastest first.
  std::string shape_text() const;
};

/// What a GGUF file says. All views point into the bytes it was parsed from.
class Gguf {
 public:
  /// The error says what is wrong, where (byte offset or name), and what was expected.
  static Result<Gguf> parse(std::span<const std::byte> bytes);

  uint32_t version() const { return version_; }
  uint64_t alignment() const { return alignment_; }
  const std::vector<Entry>& metadata() const { return metadata_; }
  const std::vector<TensorInfo>& tensors() const { return tensors_; }

  /// nullptr when absent.
  const Value* find(std::string_view key) const;
  const TensorInfo* find_tensor(std::string_view name) const;

  /// Each is an error that names the key when it is absent or of another type.
  Result<std::string_view> text(std::string_view key) const;
  Result<uint64_t> unsigned_integer(std::string_view key) const;
  Result<double> number(std::string_view key) const;
  Result<bool> boolean(std::string_view key) const;
  Result<const Array*> array(std::string_view key, ValueType of) const;

 private:
  friend class Parser;  // gguf/parser.hpp fills it
  uint32_t version_ = 0;
  uint64_t alignment_ = kDefaultAlignment;
  std::vector<Entry> metadata_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string_view, size_t> metadata_index_;
  std::unordered_map<std::string_view, size_t> tensor_index_;
};

/// A mapped file and what it says.
class GgufFile {
 public:
  static Result<GgufFile> open(const Path& path);

  const Gguf& contents() const { return contents_; }
  const Gguf* operator->() const { return &contents_; }
  const MappedFile& file() const { return file_; }

 private:
  GgufFile(MappedFile file, Gguf contents)
      : file_(std::move(file)), contents_(std::move(contents)) {}
  MappedFile file_;
  Gguf contents_;
};

/// Whether the bytes begin as a GGUF file does.
bool looks_like_gguf(std::span<const std::byte> bytes);

}  // namespace trilobite::gguf
