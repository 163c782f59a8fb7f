#include "model/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "modelfile/model_tensors.hpp"
#include "modelfile/tensor_codec.hpp"

namespace trilobite::model {
namespace {

struct ArchitectureRow {
  std::string_view name;
  Architecture architecture;
};
constexpr std::array kArchitectures{
    ArchitectureRow{"llama", Architecture::llama},
    ArchitectureRow{"bitnet", Architecture::bitnet},
    ArchitectureRow{"bitnet-b1.58", Architecture::bitnet_b158},
    ArchitectureRow{"bitnet-25", Architecture::bitnet_b158},
    ArchitectureRow{"gpt2", Architecture::gpt2},
    ArchitectureRow{"bert", Architecture::bert},
};

constexpr std::array<std::string_view, 3> kPoolings{"none", "mean", "cls"};

/// Reads `A.key` for the architecture's prefix A; the first problem is kept.
class Reader {
 public:
  Reader(const gguf::Gguf& file, std::string prefix) : file_(file), prefix_(std::move(prefix)) {}

  size_t size(std::string_view key, size_t otherwise) {
    const auto name = full(key);
    if (file_.find(name) == nullptr) return otherwise;
    const auto read = file_.unsigned_integer(name);
    if (!read) return keep(read.error()), otherwise;
    return *read;
  }
  double number(std::string_view key, double otherwise) {
    const auto name = full(key);
    if (file_.find(name) == nullptr) return otherwise;
    const auto read = file_.number(name);
    if (!read) return keep(read.error()), 0;
    if (!std::isfinite(*read) || *read < 0)
      keep(Error(fmt::format("the metadata key '{}' is {}", name, *read)));
    return *read;
  }
  std::string_view text(std::string_view key, std::string_view otherwise) {
    const auto name = full(key);
    if (file_.find(name) == nullptr) return otherwise;
    const auto read = file_.text(name);
    if (!read) return keep(read.error()), otherwise;
    return *read;
  }
  void keep(Error problem) {
    if (!problem_) problem_ = std::move(problem);
  }
  void require(bool holds, std::string_view what) {
    if (!holds) keep(Error(std::string(what)));
  }
  const std::optional<Error>& problem() const { return problem_; }

 private:
  std::string full(std::string_view key) const { return fmt::format("{}.{}", prefix_, key); }

  const gguf::Gguf& file_;
  std::string prefix_;
  std::optional<Error> problem_;
};

/// What positions are multiplied by. As other engines have it: without a type scaling is linear,
/// and a factor of 0 is none.
double read_position_factor(Reader& reader) {
  const auto scaling = reader.text("rope.scaling.type", "linear");
  if (scaling != "none" && scaling != "linear") {
    reader.keep(Error(
        fmt::format("RoPE scaling of type '{}' is not supported; none and linear are", scaling)));
  }
  reader.require(reader.number("rope.scaling.attn_factor", 1.0) == 1.0,
                 "a factor of attention ('rope.scaling.attn_factor') is not supported");
  const double old_name = reader.number("rope.scale_linear", 0.0);
  const double factor = reader.number("rope.scaling.factor", old_name);
  return scaling == "none" || factor == 0 ? 1.0 : 1.0 / factor;
}

RopeConfig read_rope(Reader& reader, const ModelConfig& config,
                     const modelfile::ModelShape& shape) {
  const RopeConfig rope{.pairs = config.architecture == Architecture::llama
                                     ? kernels::RopePairs::neighbours
                                     : kernels::RopePairs::halves,
                        .dimensions = shape.rope_dimensions.value_or(shape.head_width()),
                        .base = static_cast<double>(shape.rope_base),
                        .position_factor = read_position_factor(reader)};
  reader.require(
      rope.dimensions % 2 == 0,
      fmt::format("RoPE turns pairs, and heads of {} are not whole pairs", rope.dimensions));
  reader.require(std::isfinite(rope.base) && rope.base > 0, "the base of RoPE is not positive");
  reader.require(std::isfinite(rope.position_factor), "the scaling factor of RoPE is too small");
  return rope;
}

void check_rope_factors(const gguf::Gguf& file, Reader& reader) {
  const auto* tensor = file.find_tensor("rope_freqs.weight");
  if (tensor == nullptr) return;
  const auto factors = modelfile::decode_tensor(*tensor);
  if (!factors) return reader.keep(factors.error());
  reader.require(std::ranges::all_of(*factors, [](float f) { return std::isfinite(f) && f != 0; }),
                 "'rope_freqs.weight' holds a factor that no frequency can be divided by");
}

/// Whether attention is causal is the architecture's; a file that says otherwise is another model.
void check_causal(const gguf::Gguf& file, const ModelConfig& config, Reader& reader) {
  const auto key = config.architecture_name + ".attention.causal";
  if (file.find(key) == nullptr) return;
  const auto says = file.boolean(key);
  if (!says) return reader.keep(says.error());
  reader.require(*says == config.is_causal,
                 fmt::format("'{}' is {}; {} is computed with it {}", key, *says,
                             config.architecture_name, config.is_causal));
}

Pooling read_pooling(const gguf::Gguf& file, Reader& reader) {
  if (file.find("bert.pooling_type") == nullptr) return Pooling::none;
  const auto number = file.unsigned_integer("bert.pooling_type");
  if (!number || *number > 2) {
    reader.keep(Error("bert.pooling_type should be 0 (none), 1 (mean) or 2 (cls)"));
    return Pooling::none;
  }
  return static_cast<Pooling>(*number);
}

FeedForward feed_forward_of(const ModelConfig& config) {
  if (config.architecture == Architecture::bitnet_b158) return FeedForward::relu_squared_gate;
  return config.has_centered_norms() ? FeedForward::gelu : FeedForward::silu_gate;
}

}  // namespace

std::string_view name_of(Pooling pooling) { return kPoolings[static_cast<size_t>(pooling)]; }

Result<Pooling> parse_pooling(std::string_view name) {
  const auto found = std::ranges::find(kPoolings, name);
  if (found == kPoolings.end())
    return fail(fmt::format("there is no pooling '{}'; none, mean and cls are", name));
  return static_cast<Pooling>(found - kPoolings.begin());
}

Result<modelfile::ModelTensors> model_tensors(const gguf::Gguf& file) {
  const auto shape = modelfile::read_shape(file);
  if (!shape) return fail_from(shape);
  return modelfile::ModelTensors::take(file, *shape);
}

Result<ModelConfig> read_config(const gguf::Gguf& file) {
  const auto shape = modelfile::read_shape(file);
  if (!shape) return fail_from(shape);
  if (auto right = modelfile::ModelTensors::take(file, *shape); !right) return fail_from(right);
  Reader reader(file, shape->architecture);
  ModelConfig config{
      .architecture = std::ranges::find(kArchitectures, shape->architecture, &ArchitectureRow::name)
                          ->architecture,
      .architecture_name = shape->architecture,
      .vocabulary = shape->vocabulary,
      .context = shape->context,
      .width = shape->width,
      .layers = shape->layers,
      .heads = shape->heads,
      .kv_heads = shape->kv_heads,
      .head_size = shape->head_width(),
      .feed_forward_width = shape->feed_forward,
      .norm_epsilon = shape->epsilon};
  reader.require(reader.size("attention.value_length", config.head_size) == config.head_size,
                 "keys and values of different lengths are not supported");
  reader.require(!config.has_centered_norms() ||
                     (config.kv_heads == config.heads && config.query_width() == config.width),
                 fmt::format("the heads of a {} model fill its width, and each has keys of its own",
                             shape->architecture));
  if (!config.has_centered_norms()) config.rope = read_rope(reader, config, *shape);
  config.feed_forward = feed_forward_of(config);
  config.has_sub_norms = modelfile::is_bitnet(shape->architecture);
  config.is_causal = config.architecture != Architecture::bert;
  config.pooling = read_pooling(file, reader);
  check_causal(file, config, reader);
  if (config.rope) check_rope_factors(file, reader);
  if (reader.problem()) return std::unexpected(*reader.problem());
  return config;
}

}  // namespace trilobite::model
