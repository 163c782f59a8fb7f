#pragma once
// Small model files put together for tests.

#include <cstring>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "gguf/writer.hpp"
#include "modelfile/model_shape.hpp"
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

/// A model of two layers and 5 tokens that takes a few kilobytes.
inline ModelShape small_shape(std::string architecture) {
  const bool gated = is_gated(architecture);
  return {.architecture = std::move(architecture),
          .context = 16,
          .width = 8,
          .layers = 2,
          .heads = 2,
          .kv_heads = gated ? 1U : 2U,
          .feed_forward = 12,
          .vocabulary = 5};
}

/// An f32 tensor of random values.
inline TensorForTest tensor_for_test(std::string name, std::vector<uint64_t> dimensions) {
  size_t count = 1;
  for (const auto dimension : dimensions) count *= dimension;
  return {std::move(name), std::move(dimensions), gguf::TensorType::f32, normal_values(count)};
}

/// Every tensor that the model needs.
inline std::vector<TensorForTest> tensors_of(const ModelShape& shape) {
  std::vector<TensorForTest> tensors;
  for (const auto& expected : expected_tensors(shape))
    tensors.push_back(tensor_for_test(expected.name, expected.dimensions));
  return tensors;
}

/// With the metadata of the shape; `fill` may set more.
template <typename Fill>
void write_small_model(const Path& path, const ModelShape& shape,
                       const std::vector<TensorForTest>& tensors, Fill fill) {
  write_model(path, tensors, [&](gguf::Writer& writer) {
    const auto prefix = shape.architecture + ".";
    writer.set_text("general.architecture", shape.architecture);
    writer.set_u32(prefix + "context_length", shape.context);
    writer.set_u32(prefix + "embedding_length", shape.width);
    writer.set_u32(prefix + "block_count", shape.layers);
    writer.set_u32(prefix + "feed_forward_length", shape.feed_forward);
    writer.set_u32(prefix + "attention.head_count", shape.heads);
    writer.set_u32(prefix + "attention.head_count_kv", shape.kv_heads);
    writer.set_f32(epsilon_key(shape.architecture), shape.epsilon);
    writer.set_texts("tokenizer.ggml.tokens", std::vector<std::string>(shape.vocabulary, "t"));
    fill(writer);
  });
}

inline void write_small_model(const Path& path, const ModelShape& shape,
                              const std::vector<TensorForTest>& tensors) {
  write_small_model(path, shape, tensors, [](gguf::Writer&) {});
}

}  // namespace trilobite::modelfile
