#include "model/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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

// Beyond what any model has, and small enough that no product of two of them overflows.
constexpr uint64_t kLargest = uint64_t{1} << 24;

Result<Architecture> find_architecture(std::string_view name) {
  const auto found = std::ranges::find(kArchitectures, name, &ArchitectureRow::name);
  if (found != kArchitectures.end()) return found->architecture;
  return fail(
      fmt::format("the architecture '{}' is not supported; llama, bitnet, bitnet-b1.58, gpt2 and "
                  "bert are",
                  name));
}

/// Reads `A.key` for the architecture's prefix A; the first problem is kept.
class Reader {
 public:
  Reader(const gguf::Gguf& file, std::string prefix) : file_(file), prefix_(std::move(prefix)) {}

  size_t size(std::string_view key, std::optional<size_t> otherwise = std::nullopt) {
    const auto name = full(key);
    if (file_.find(name) == nullptr && otherwise) return *otherwise;
    return checked(name, file_.unsigned_integer(name));
  }
  double number(std::string_view key, std::optional<double> otherwise = std::nullopt) {
    const auto name = full(key);
    if (file_.find(name) == nullptr && otherwise) return *otherwise;
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
  size_t checked(std::string_view name, const Result<uint64_t>& read) {
    if (!read) return keep(read.error()), 0;
    if (*read == 0 || *read > kLargest)
      keep(Error(fmt::format("the metadata key '{}' is {}", name, *read)));
    return *read;
  }

  const gguf::Gguf& file_;
  std::string prefix_;
  std::optional<Error> problem_;
};

RopeConfig read_rope(Reader& reader, const ModelConfig& config) {
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
                        .base = reader.number("rope.freq_base", 10000.0),
                        .position_factor = factor > 0 ? 1.0 / factor : 1.0};
  reader.require(rope.dimensions % 2 == 0 && rope.dimensions <= config.head_size,
                 fmt::format("RoPE turns {} dimensions of heads of {}; an even number within the "
                             "head is needed",
                             rope.dimensions, config.head_size));
  reader.require(rope.base > 0, "the base of RoPE is 0");
  return rope;
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

void read_heads(Reader& reader, ModelConfig& config) {
  config.heads = reader.size("attention.head_count");
  config.kv_heads = reader.size("attention.head_count_kv", config.heads);
  const size_t whole = std::max<size_t>(config.heads, 1);
  config.head_size = reader.size("attention.key_length", config.width / whole);
  const size_t value_size = reader.size("attention.value_length", config.head_size);
  reader.require(value_size == config.head_size,
                 "keys and values of different lengths are not supported");
  reader.require(
      config.kv_heads != 0 && config.heads % std::max<size_t>(config.kv_heads, 1) == 0,
      fmt::format("{} heads cannot share {} heads of keys", config.heads, config.kv_heads));
  reader.require(config.head_size != 0, "the heads have no elements");
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
  const auto name = file.text("general.architecture");
  if (!name) return fail_from(name);
  const auto architecture = find_architecture(*name);
  if (!architecture) return fail_from(architecture);
  const auto* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr) return fail("the tensor 'token_embd.weight' is missing");

  Reader reader(file, std::string(*name));
  ModelConfig config{};
  config.architecture = *architecture;
  config.architecture_name = *name;
  config.vocabulary = embedding->rows();
  config.context = reader.size("context_length");
  config.width = reader.size("embedding_length");
  config.layers = reader.size("block_count");
  config.feed_forward_width = reader.size("feed_forward_length");
  read_heads(reader, config);
  const bool centered = config.has_centered_norms();
  config.norm_epsilon = static_cast<float>(reader.number(
      centered ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"));
  if (!centered) config.rope = read_rope(reader, config);
  config.feed_forward = feed_forward_of(config);
  config.has_sub_norms =
      *architecture == Architecture::bitnet || *architecture == Architecture::bitnet_b158;
  config.is_causal = *architecture != Architecture::bert;
  config.pooling = read_pooling(file, reader);
  reader.require(config.vocabulary <= kLargest, "the vocabulary is absurdly large");
  if (reader.problem()) return std::unexpected(*reader.problem());
  return config;
}

}  // namespace trilobite::model
