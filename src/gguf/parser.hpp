#pragma once
// Reads the bytes of a GGUF file once, from front to back.

#include <string>

#include "gguf/gguf_file.hpp"

namespace trilobite::gguf {

class Parser {
 public:
  explicit Parser(std::span<const std::byte> bytes) : bytes_(bytes) {}
  Result<Gguf> run();

 private:
  struct Header {
    uint64_t tensor_count;
    uint64_t metadata_count;
  };
  Result<Header> header();
  Result<void> entries(uint64_t count);
  Result<void> tensor_infos(uint64_t count);
  Result<void> place_tensors();
  Result<void> choose_alignment();

  Result<Value> value(ValueType type);
  Result<ValueType> value_type();
  Result<Array> array(int depth);
  Result<TensorInfo> tensor_info(uint64_t& offset);
  Result<void> dimensions(TensorInfo& tensor);
  Result<std::string_view> text();
  template <typename T>
  Result<T> number();
  /// Room for at least `count` things of `least_bytes` each, before memory is taken for them.
  Result<void> expect(uint64_t count, size_t least_bytes, std::string_view what) const;
  std::string at() const;

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  std::vector<uint64_t> offsets_;  // of the tensors, within the data section
  Gguf result_;
};

}  // namespace trilobite::gguf
