#pragma once
// What a model file says about its architecture, as plain numbers that have been checked against
// each other. Nothing here knows weights.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "gguf/gguf_file.hpp"
#include "kernels/rope.hpp"
#include "modelfile/model_tensors.hpp"

namespace trilobite::model {

enum class Architecture : uint8_t {
  llama,
  bitnet,       // llama with sub-norms and rotated halves, as llama.cpp has it
  bitnet_b158,  // bitnet with squared ReLU: Microsoft's 2B-4T; also called bitnet-25
  gpt2,
  bert,
};

enum class FeedForward : uint8_t {
  silu_gate,          // down(silu(gate(x)) * up(x))
  relu_squared_gate,  // down(relu(gate(x))^2 * up(x))
  gelu,               // down(gelu(up(x)))
};

/// How the hidden states of a text become one vector.
enum class Pooling : uint8_t { none, mean, cls };
std::string_view name_of(Pooling pooling);
Result<Pooling> parse_pooling(std::string_view name);

struct RopeConfig {
  kernels::RopePairs pairs;
  size_t dimensions;  // of each head that are turned, even
  double base;
  double position_factor;  // positions are multiplied by it: 1 / factor of linear scaling
};

struct ModelConfig {
  Architecture architecture;
  std::string architecture_name;  // as the file has it
  size_t vocabulary;
  size_t context;  // that it was trained for
  size_t width;
  size_t layers;
  size_t heads;
  size_t kv_heads;
  size_t head_size;
  size_t feed_forward_width;
  float norm_epsilon;
  std::optional<RopeConfig> rope;
  FeedForward feed_forward;
  bool has_sub_norms;
  bool is_causal;
  Pooling pooling;

  /// layernorm, with a bias, instead of rmsnorm.
  bool has_centered_norms() const {
    return architecture == Architecture::gpt2 || architecture == Architecture::bert;
  }
  size_t query_width() const { return heads * head_size; }
  size_t kv_width() const { return kv_heads * head_size; }
};

/// Errors: an architecture that is not known (by name), a missing or impossible number, a tensor
/// that is missing, has another shape or is none of the architecture.
Result<ModelConfig> read_config(const gguf::Gguf& file);
/// What a model that has been read computes with.
Result<modelfile::ModelTensors> model_tensors(const gguf::Gguf& file);

}  // namespace trilobite::model
