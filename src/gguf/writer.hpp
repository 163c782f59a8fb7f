#pragma once
// Writes GGUF files (version 3), tensor after tensor, so that a model need never be in memory as a
// whole. The file appears under its name only when it is complete.

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "gguf/gguf_file.hpp"

namespace trilobite::gguf {

/// A tensor to be written: its place in the file follows from the order of declaration.
struct TensorSpec {
  std::string name;
  std::vector<uint64_t> dimensions;  // fastest first
  TensorType type;

  size_t columns() const { return dimensions[0]; }
  size_t rows() const;
};

/// First metadata and specs, then `start`, then the data of every tensor in the declared order,
/// then `finish`. Dropped before `finish`, it leaves nothing behind.
class Writer {
 public:
  Writer() = default;
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// A key may be set once. Arrays: `set_texts`, `set_numbers`.
  void set(std::string_view key, const Value& value);
  void set_text(std::string_view key, std::string_view text) { set(key, Value(text)); }
  void set_u32(std::string_view key, uint32_t number) { set(key, Value(number)); }
  void set_f32(std::string_view key, float number) { set(key, Value(number)); }
  void set_bool(std::string_view key, bool yes) { set(key, Value(yes)); }
  void set_texts(std::string_view key, std::span<const std::string> texts);
  void set_floats(std::string_view key, std::span<const float> numbers);
  void set_i32s(std::string_view key, std::span<const int32_t> numbers);

  /// Errors: a shape that the type cannot hold.
  Result<void> declare(TensorSpec spec);

  Result<void> start(const Path& path);
  /// The whole data of the next tensor.
  Result<void> append(std::span<const std::byte> data);
  Result<void> finish();

 private:
  void set_array(std::string_view key, Array array);
  Result<void> write(std::string_view bytes);
  Result<void> pad();

  struct Declared {
    TensorSpec spec;
    size_t bytes;
    uint64_t offset;
  };
  std::string metadata_;
  uint64_t metadata_count_ = 0;
  std::vector<Declared> tensors_;
  uint64_t data_bytes_ = 0;
  size_t next_tensor_ = 0;
  Path path_;
  Path temporary_;
  std::ofstream file_;
  uint64_t written_ = 0;
};

}  // namespace trilobite::gguf
