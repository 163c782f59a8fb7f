#include "modelfile/model_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trilobite::modelfile {
namespace {

/// Collects the tensors of one model.
class TensorList {
 public:
  explicit TensorList(const ModelShape& shape) : shape_(shape) {}

  std::vector<ExpectedTensor> all() {
    if (is_gated(shape_.architecture)) {
      gated();
    } else if (shape_.architecture == "gpt2") {
      gpt2();
    } else {
      bert();
    }
    return std::move(tensors_);
  }

 private:
  void add(std::string name, std::vector<uint64_t> dimensions) {
    const auto role = role_of(name);
    tensors_.push_back({std::move(name), std::move(dimensions), role});
  }
  void norm(const std::string& name, uint64_t width) { add(name + ".weight", {width}); }
  void norm_and_bias(const std::string& name) {
    add(name + ".weight", {shape_.width});
    add(name + ".bias", {shape_.width});
  }
  void linear(const std::string& name, uint64_t inputs, uint64_t outputs) {
    add(name + ".weight", {inputs, outputs});
  }
  void linear_and_bias(const std::string& name, uint64_t inputs, uint64_t outputs) {
    linear(name, inputs, outputs);
    add(name + ".bias", {outputs});
  }
  void head() {
    if (!shape_.tied_head) linear("output", shape_.width, shape_.vocabulary);
  }

  void gated() {
    linear("token_embd", shape_.width, shape_.vocabulary);
    norm("output_norm", shape_.width);
    head();
    const bool sub_norms = is_bitnet(shape_.architecture);
    for (uint32_t i = 0; i < shape_.layers; ++i) {
      const auto block = fmt::format("blk.{}.", i);
      norm(block + "attn_norm", shape_.width);
      if (sub_norms) norm(block + "attn_sub_norm", shape_.query_width());
      linear(block + "attn_q", shape_.width, shape_.query_width());
      linear(block + "attn_k", shape_.width, shape_.kv_width());
      linear(block + "attn_v", shape_.width, shape_.kv_width());
      linear(block + "attn_output", shape_.query_width(), shape_.width);
      norm(block + "ffn_norm", shape_.width);
      if (sub_norms) norm(block + "ffn_sub_norm", shape_.feed_forward);
      linear(block + "ffn_gate", shape_.width, shape_.feed_forward);
      linear(block + "ffn_up", shape_.width, shape_.feed_forward);
      linear(block + "ffn_down", shape_.feed_forward, shape_.width);
    }
  }

  void feed_forward_with_biases(const std::string& block) {
    linear_and_bias(block + "ffn_up", shape_.width, shape_.feed_forward);
    linear_and_bias(block + "ffn_down", shape_.feed_forward, shape_.width);
  }

  void gpt2() {
    linear("token_embd", shape_.width, shape_.vocabulary);
    linear("position_embd", shape_.width, shape_.context);
    norm_and_bias("output_norm");
    head();
    for (uint32_t i = 0; i < shape_.layers; ++i) {
      const auto block = fmt::format("blk.{}.", i);
      norm_and_bias(block + "attn_norm");
      linear_and_bias(block + "attn_qkv", shape_.width, 3 * uint64_t{shape_.width});
      linear_and_bias(block + "attn_output", shape_.width, shape_.width);
      norm_and_bias(block + "ffn_norm");
      feed_forward_with_biases(block);
    }
  }

  void bert() {
    linear("token_embd", shape_.width, shape_.vocabulary);
    linear("position_embd", shape_.width, shape_.context);
    linear("token_types", shape_.width, 2);
    norm_and_bias("token_embd_norm");
    for (uint32_t i = 0; i < shape_.layers; ++i) {
      const auto block = fmt::format("blk.{}.", i);
      for (const auto* name : {"attn_q", "attn_k", "attn_v", "attn_output"})
        linear_and_bias(block + name, shape_.width, shape_.width);
      norm_and_bias(block + "attn_output_norm");
      feed_forward_with_biases(block);
      norm_and_bias(block + "layer_output_norm");
    }
  }

  const ModelShape& shape_;
  std::vector<ExpectedTensor> tensors_;
};

/// Reads the sizes of a file; the first problem is kept.
class ShapeReader {
 public:
  ShapeReader(const gguf::Gguf& gguf, std::string prefix)
      : gguf_(gguf), prefix_(std::move(prefix)) {}

  uint32_t size(std::string_view name) {
    const auto read = gguf_.unsigned_integer(prefix_ + std::string(name));
    if (!read) return keep(read.error());
    if (*read == 0 || *read > std::numeric_limits<int32_t>::max())
      return keep(Error(fmt::format("'{}{}' is {}; no model has that", prefix_, name, *read)));
    return static_cast<uint32_t>(*read);
  }
  uint32_t size_or(std::string_view name, uint32_t otherwise) {
    return gguf_.find(prefix_ + std::string(name)) == nullptr ? otherwise : size(name);
  }
  Result<void> finish() const {
    return problem_ ? Result<void>(std::unexpected(*problem_)) : Result<void>();
  }

 private:
  uint32_t keep(const Error& error) {
    if (!problem_) problem_ = error;
    return 1;
  }
  const gguf::Gguf& gguf_;
  std::string prefix_;
  std::optional<Error> problem_;
};

/// None may be turned, so that 0 is fine here.
Result<void> read_rope_dimensions(const gguf::Gguf& gguf, ModelShape& shape) {
  const auto key = shape.architecture + ".rope.dimension_count";
  if (!is_gated(shape.architecture) || gguf.find(key) == nullptr) return {};
  const auto turned = gguf.unsigned_integer(key);
  if (!turned) return fail_from(turned);
  if (*turned % 2 != 0 || *turned > shape.head_width()) {
    return fail(
        fmt::format("RoPE turns {} dimensions of heads of {}; an even number within the "
                    "head is needed",
                    *turned, shape.head_width()));
  }
  shape.rope_dimensions = static_cast<uint32_t>(*turned);
  return {};
}

Result<void> read_numbers(const gguf::Gguf& gguf, ModelShape& shape) {
  const auto epsilon = gguf.number(epsilon_key(shape.architecture));
  if (!epsilon) return fail_from(epsilon);
  shape.epsilon = static_cast<float>(*epsilon);
  if (!std::isfinite(shape.epsilon) || shape.epsilon < 0) {
    return fail(
        fmt::format("the metadata key '{}' is {}; it should be a number that is not "
                    "negative",
                    epsilon_key(shape.architecture), *epsilon));
  }
  const auto rope_key = shape.architecture + ".rope.freq_base";
  if (gguf.find(rope_key) == nullptr) return {};
  const auto base = gguf.number(rope_key);
  if (!base) return fail_from(base);
  shape.rope_base = static_cast<float>(*base);
  return {};
}

}  // namespace

bool is_bitnet(std::string_view architecture) { return architecture.starts_with("bitnet"); }

bool is_gated(std::string_view architecture) {
  return architecture == "llama" || is_bitnet(architecture);
}

std::string epsilon_key(std::string_view architecture) {
  return fmt::format("{}.attention.layer_norm_{}epsilon", architecture,
                     is_gated(architecture) ? "rms_" : "");
}

std::vector<ExpectedTensor> expected_tensors(const ModelShape& shape) {
  return TensorList(shape).all();
}

std::vector<ExpectedTensor> optional_tensors(const ModelShape& shape) {
  std::vector<ExpectedTensor> tensors;
  const bool gated = is_gated(shape.architecture);
  for (const auto& tensor : expected_tensors(shape)) {
    const bool is_head = tensor.role == TensorRole::head;
    if (tensor.role != TensorRole::linear && !is_head) continue;
    const auto prefix = tensor.name.substr(0, tensor.name.rfind('.'));
    tensors.push_back({prefix + ".scale", {1}, TensorRole::bias});
    if (gated || is_head)
      tensors.push_back({prefix + ".bias", {tensor.dimensions[1]}, TensorRole::bias});
  }
  const auto turned = shape.rope_dimensions.value_or(shape.head_width());
  if (gated) tensors.push_back({"rope_freqs.weight", {turned / 2}, TensorRole::bias});
  return tensors;
}

bool has_shape(const gguf::TensorInfo& tensor, const std::vector<uint64_t>& dimensions) {
  for (size_t i = 0; i < gguf::kMaxDimensions; ++i) {
    if (tensor.dimensions[i] != (i < dimensions.size() ? dimensions[i] : 1)) return false;
  }
  return true;
}

TensorRole role_of(std::string_view tensor_name) {
  if (tensor_name.ends_with(".bias")) return TensorRole::bias;
  if (tensor_name.ends_with("_norm.weight")) return TensorRole::norm;
  if (tensor_name == "token_embd.weight") return TensorRole::embedding;
  if (tensor_name == "output.weight") return TensorRole::head;
  if (tensor_name == "position_embd.weight" || tensor_name == "token_types.weight")
    return TensorRole::table;
  return TensorRole::linear;
}

Result<ModelShape> read_shape(const gguf::Gguf& gguf) {
  const auto name = gguf.text("general.architecture");
  if (!name) return fail_from(name);
  if (std::ranges::find(kArchitectures, *name) == kArchitectures.end()) {
    return fail(fmt::format("the architecture '{}' is not known; known are {}", *name,
                            fmt::join(kArchitectures, ", ")));
  }
  const auto* embedding = gguf.find_tensor("token_embd.weight");
  if (embedding == nullptr) return fail("the tensor 'token_embd.weight' is missing");
  ModelShape shape{.architecture = std::string(*name)};
  ShapeReader reader(gguf, shape.architecture + ".");
  shape.context = reader.size("context_length");
  shape.width = reader.size("embedding_length");
  shape.layers = reader.size("block_count");
  shape.feed_forward = reader.size("feed_forward_length");
  shape.heads = reader.size("attention.head_count");
  shape.kv_heads = reader.size_or("attention.head_count_kv", shape.heads);
  shape.head_size = reader.size_or("attention.key_length", 0);
  shape.vocabulary = static_cast<uint32_t>(std::min<uint64_t>(embedding->rows(), UINT32_MAX));
  shape.tied_head = gguf.find_tensor("output.weight") == nullptr;
  if (auto done = reader.finish(); !done) return fail_from(done);
  if (auto done = read_numbers(gguf, shape); !done) return fail_from(done);
  if ((shape.head_size == 0 && shape.width % shape.heads != 0) ||
      shape.heads % shape.kv_heads != 0 ||
      uint64_t{shape.head_width()} * shape.heads > std::numeric_limits<int32_t>::max()) {
    return fail(fmt::format("{} heads with {} key-value heads do not divide a width of {}",
                            shape.heads, shape.kv_heads, shape.width));
  }
  if (auto done = read_rope_dimensions(gguf, shape); !done) return fail_from(done);
  // Every layer has tensors of its own; more layers than tensors would only cost memory here.
  if (shape.layers > gguf.tensors().size()) {
    return fail(fmt::format("the file says {} layers, but holds only {} tensors", shape.layers,
                            gguf.tensors().size()));
  }
  return shape;
}

}  // namespace trilobite::modelfile
