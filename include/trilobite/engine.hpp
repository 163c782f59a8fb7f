#pragma once
// A model file, ready to run.
//
//     auto engine = trilobite::Engine::load("model.gguf");
//     if (!engine) return complain(engine.error().message());
//     const auto text = engine->generate("Once upon a time", 32);
//     if (text) std::cout << *text;
//
// One caller at a time. The same input gives the same output for any number of threads.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trilobite/error.hpp"
#include "trilobite/tokenizer.hpp"

namespace trilobite {

/// How attention keeps what it has seen: f32 while that is small, else f16; or as told.
enum class KvPrecision { automatic, f32, f16, int8 };

struct LoadOptions {
  unsigned threads = 0;  ///< 0: all CPUs that this process may use
  size_t context = 0;    ///< tokens of a text, prompt included; 0: the model's, at most 4096
  KvPrecision kv = KvPrecision::automatic;
  size_t sequences = 1;  ///< texts that are continued at once, each with such a context
};

struct Sampling {
  float temperature = 0.0f;  ///< 0: always the likeliest token
  size_t top_k = 0;          ///< draw from the k likeliest; 0: all
  float top_p = 1.0f;        ///< and of those that together have this probability
  float min_p = 0.0f;        ///< and at least this share of the likeliest one's probability
  float repetition_penalty = 1.0f;
  uint64_t seed = 42;
  /// End the continuation besides the model's own end of text, and are not part of it.
  std::vector<TokenId> stop_tokens;
  std::vector<std::string> stop_texts;
  bool ignore_end = false;  ///< go on after the model's end of text
  /// Called with each piece of text as it becomes complete; false ends the generation.
  std::function<bool(std::string_view text)> on_text;
};

class Engine {
 public:
  /// Errors name the file and what is wrong with it.
  static Result<Engine> load(const std::filesystem::path& path, const LoadOptions& options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// The continuation of `prompt` by at most `tokens` tokens, without the prompt.
  Result<std::string> generate(std::string_view prompt, size_t tokens,
                               const Sampling& sampling = {});
  /// The continuation of each prompt, LoadOptions::sequences of them at once: their tokens share
  /// each reading of the weights. Where one ends the next begins. `on_text` must be empty.
  Result<std::vector<std::string>> generate(std::span<const std::string> prompts, size_t tokens,
                                            const Sampling& sampling = {});
  /// The logits of the token that follows `ids`; one for each token of the vocabulary.
  Result<std::vector<float>> logits(std::span<const TokenId> ids);
  /// A vector for each text, of a BERT model, pooled as the model says (mean where it does not).
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts);

  const Tokenizer& tokenizer() const;
  /// "llama", "bitnet-b1.58", ...
  std::string_view architecture() const;

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trilobite
