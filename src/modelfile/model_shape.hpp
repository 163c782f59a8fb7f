#pragma once
// The architectures that model files name, seen as data: their sizes, and the tensors that a file
// of such a model holds. Fixtures are made from it, and checks look for what a file lacks.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/gguf_file.hpp"

namespace trilobite::modelfile {

inline constexpr std::array<std::string_view, 6> kArchitectures{
    "bitnet", "bitnet-b1.58", "bitnet-25", "llama", "gpt2", "bert"};

/// The sizes that fix every tensor of a model.
struct ModelShape {
  std::string architecture;  // one of kArchitectures; also the prefix of its metadata keys
  uint32_t context = 0;
  uint32_t width = 0;
  uint32_t layers = 0;
  uint32_t heads = 0;
  uint32_t kv_heads = 0;
  uint32_t head_size = 0;  // 0: width / heads
  uint32_t feed_forward = 0;
  uint32_t vocabulary = 0;
  float rope_base = 10000.0F;               // where there is RoPE
  std::optional<uint32_t> rope_dimensions;  // of a head that are turned; nothing: all
  float epsilon = 1e-5F;
  bool tied_head = true;  // the embedding is the head as well

  uint32_t head_width() const { return head_size != 0 ? head_size : width / heads; }
  uint32_t query_width() const { return head_width() * heads; }
  uint32_t kv_width() const { return head_width() * kv_heads; }
};

bool is_bitnet(std::string_view architecture);
/// llama and bitnet: RMS norms, RoPE, a gated feed-forward layer.
bool is_gated(std::string_view architecture);
/// "llama.attention.layer_norm_rms_epsilon"
std::string epsilon_key(std::string_view architecture);

/// What a tensor is for; it decides which types it may have.
enum class TensorRole {
  embedding,  ///< a row per token; the head as well where that is tied
  head,
  table,  ///< positions and token types: a row is added, never multiplied
  linear,
  norm,
  bias,
};

struct ExpectedTensor {
  std::string name;
  std::vector<uint64_t> dimensions;  // fastest first
  TensorRole role;
};

/// Every tensor that a model of this shape needs, in the order in which files hold them.
std::vector<ExpectedTensor> expected_tensors(const ModelShape& shape);
/// Those that it may have besides: a scale of each linear layer and of a head of its own, a bias
/// where the architecture has none by itself, factors of the frequencies of RoPE.
std::vector<ExpectedTensor> optional_tensors(const ModelShape& shape);

/// Whether a tensor has these dimensions; further ones are 1.
bool has_shape(const gguf::TensorInfo& tensor, const std::vector<uint64_t>& dimensions);

/// What a tensor of this name is for, in any architecture. Unknown names are linear.
TensorRole role_of(std::string_view tensor_name);

/// From a file's metadata. Errors: a missing key, an unknown architecture (by name), sizes that
/// cannot be.
Result<ModelShape> read_shape(const gguf::Gguf& gguf);

}  // namespace trilobite::modelfile
