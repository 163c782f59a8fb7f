#pragma once
// The engine: a model file, ready to run. Token ids go in, logits, continuations or embeddings come
// out. One caller at a time; the result does not depend on the number of threads.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "kernels/attention.hpp"
#include "model/config.hpp"
#include "model/sampler.hpp"
#include "model/weights.hpp"

namespace trilobite::model {

struct EngineOptions {
  unsigned threads = 0;     // 0: all CPUs that this process may use
  size_t context = 0;       // positions of a sequence; 0: the model's, at most kDefaultContext
  size_t batch_tokens = 0;  // that run through the layers together; 0: chosen, see docs/engine.md
  size_t sequences = 1;     // that are kept at the same time
  /// Nothing: f32 while the cache is small (kSmallCacheBytes), else f16.
  std::optional<kernels::KvType> kv_type;
  WeightOptions weights;
  bool gelu_erf = false;  // bert and gpt2: erf instead of the tanh approximation
};
inline constexpr size_t kDefaultContext = 4096;
inline constexpr size_t kMostSequences = 1024;
inline constexpr size_t kSmallCacheBytes = size_t{4} << 20;

/// Bytes that the engine holds, by purpose.
struct EngineMemory {
  size_t mapped_weights = 0;
  size_t packed_weights = 0;
  size_t kv_cache = 0;
  size_t scratch = 0;
};

/// Tokens to append to a sequence.
struct Feed {
  size_t sequence;
  std::span<const int32_t> tokens;
};

enum class StopReason { length, stop_token, context_full, cancelled };
std::string_view name_of(StopReason reason);

struct GenerateOptions {
  size_t tokens = 32;
  SamplerOptions sampler;
  std::vector<int32_t> stop_tokens;  // besides the model's own end-of-text tokens
  bool ignore_end = false;           // go on after an end-of-text token
  /// Called with every new token; false cancels.
  std::function<bool(int32_t token)> on_token;
};

struct Request {
  std::span<const int32_t> prompt;  // at least one token
  GenerateOptions options;
};

struct Generation {
  std::vector<int32_t> tokens;  // without the prompt, and without the token that ended it
  StopReason stopped = StopReason::length;
};

class Engine {
 public:
  /// Errors name the file and what is wrong with it.
  static Result<Engine> load(const Path& path, const EngineOptions& options = {});
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  const ModelConfig& config() const;
  const gguf::GgufFile& file() const;
  EngineMemory memory() const;
  unsigned threads() const;
  size_t context() const;
  size_t sequences() const;
  kernels::KvType kv_type() const;
  /// Bytes of weights that decoding one token reads, and of cache for each position before it.
  size_t weight_bytes_per_token() const;
  size_t kv_bytes_per_position() const;
  /// The distinct kernels that multiply with the weights, and how many matrices each has.
  std::vector<std::pair<std::string, size_t>> kernels_used() const;

  /// Tokens of a sequence that the cache holds.
  size_t length(size_t sequence) const;
  /// Forgets a sequence from position `length` on.
  void truncate(size_t sequence, size_t length = 0);
  /// Appends to sequences, each named once. Afterwards `logits(i)` are those of the last token of
  /// feeds[i]. Errors: an unknown id, a full context, an activation that is not finite; sequences
  /// then hold what had been processed before. Allocates nothing.
  Result<void> feed(std::span<const Feed> feeds);
  std::span<const float> logits(size_t feed) const;
  /// Appends to one sequence and gives the logits of every token to `sink`, in order.
  using LogitsSink = std::function<void(size_t index, std::span<const float> logits)>;
  Result<void> feed_each(const Feed& feed, const LogitsSink& sink);

  /// Continues `prompt` (at least one token).
  Result<Generation> generate(std::span<const int32_t> prompt, const GenerateOptions& options);
  /// Continues all of them, as many at once as there are sequences: their tokens share each reading
  /// of the weights, and where one ends the next begins. What sequences held is forgotten.
  Result<std::vector<Generation>> generate_all(std::span<const Request> requests);

  /// Of a model that is not causal: [texts][width] pooled, or [all tokens][width] without pooling.
  Result<std::vector<float>> embed(std::span<const std::vector<int32_t>> texts, Pooling pooling);

 private:
  struct State;
  Result<void> check_prompts(std::span<const Request> requests) const;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The ids of the file's end-of-text tokens (eos, eot, eom), as far as it names them.
std::vector<int32_t> end_tokens(const gguf::Gguf& file);

}  // namespace trilobite::model
