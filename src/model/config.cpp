#include "model/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "modelfile/model_shape.hpp"

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
  std::optional<std::string_view> text(std::string_view key) const {
    const auto read = file_.text(full(key));
    return read ? std::optional(*read) : std::nullopt;
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

RopeConfig read_rope(Reader& reader, const ModelConfig& config, float base) {
  const auto scaling = reader.text("rope.scaling.type").value_or("none");
  if (scaling != "none" && scaling != "linear") {
    reader.keep(Error(
        fmt::format("RoPE scaling of type '{}' is not supported; none and linear are", scaling)));
  }
  const double factor = scaling == "linear" ? reader.number("rope.scaling.factor", 1.0) : 1.0;
  const RopeConfig rope{.pairs = config.architecture == Architecture::llama
                                     ? kernels::RopePairs::neighbours
                                     : kernels::RopePairs::halves,
                        .dimensions = reader.size("rope.dimension_count", config.head_size),
                        .base = static_cast<double>(base),
                        .position_factor = factor > 0 ? 1.0 / factor : 1.0};
  reader.require(rope.dimensions % 2 == 0 && rope.dimensions <= config.head_size,
                 fmt::format("RoPE turns {} dimensions of heads of {}; an even number within the "
                             "head is needed",
                             rope.dimensions, config.head_size));
  reader.require(std::isfinite(rope.base) && rope.base > 0, "the base of RoPE is not positive");
  return rope;
}

/// Factors of the frequencies, one for each pair, where the file has them.
void check_rope_factors(const gguf::Gguf& file, const RopeConfig& rope, Reader& reader) {
  const auto* factors = file.find_tensor("rope_freqs.weight");
  reader.require(factors == nullptr || factors->elements() == rope.dimensions / 2,
                 fmt::format("'rope_freqs.weight' should have {} elements", rope.dimensions / 2));
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

Result<ModelConfig> read_config(const gguf::Gguf& file) {
  const auto shape = modelfile::read_shape(file);
  if (!shape) return fail_from(shape);
  if (auto right = modelfile::check_tensors(file, *shape); !right) return fail_from(right);
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
  if (!config.has_centered_norms()) config.rope = read_rope(reader, config, shape->rope_base);
  config.feed_forward = feed_forward_of(config);
  config.has_sub_norms = modelfile::is_bitnet(shape->architecture);
  config.is_causal = config.architecture != Architecture::bert;
  config.pooling = read_pooling(file, reader);
  if (config.rope) check_rope_factors(file, *config.rope, reader);
  if (reader.problem()) return std::unexpected(*reader.problem());
  return config;
}

}  // namespace trilobite::model
