#pragma once
// Small model files put together for tests.

#include <cstring>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "gguf/writer.hpp"
#include "modelfile/tensor_codec.hpp"

namespace trilobite::modelfile {

inline std::vector<float> normal_values(size_t count, uint64_t stream = 0) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = normal_at(7, stream, i);
  return values;
}

struct TensorForTest {
  std::string name;
  std::vector<uint64_t> dimensions;
  gguf::TensorType type;
  std::vector<float> values;
};

/// Writes a file of these tensors and the metadata that `fill` sets.
template <typename Fill>
void write_model(const Path& path, const std::vector<TensorForTest>& tensors, Fill fill) {
  gguf::Writer writer;
  fill(writer);
  for (const auto& tensor : tensors)
    TRILOBITE_CHECK(writer.declare({tensor.name, tensor.dimensions, tensor.type}).has_value());
  TRILOBITE_CHECK(writer.start(path).has_value());
  for (const auto& tensor : tensors) {
    const auto bytes = encode_rows(tensor.type, tensor.values, tensor.dimensions[0]).value();
    TRILOBITE_CHECK(writer.append(std::as_bytes(std::span(bytes))).has_value());
  }
  TRILOBITE_CHECK(writer.finish().has_value());
}

inline void write_model(const Path& path, const std::vector<TensorForTest>& tensors) {
  write_model(path, tensors, [](gguf::Writer&) {});
}

}  // namespace trilobite::modelfile
