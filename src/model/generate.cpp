// Engine::generate, and what ends a generation.

#include <algorithm>
#include <array>

#include "model/engine.hpp"

namespace trilobite::model {
namespace {

constexpr std::array<std::string_view, 4> kStopReasons{"length", "stop_token", "context_full",
                                                       "cancelled"};

std::vector<int32_t> all_stop_tokens(const gguf::Gguf& file, const GenerateOptions& options) {
  auto stops = options.ignore_end ? std::vector<int32_t>() : end_tokens(file);
  stops.insert(stops.end(), options.stop_tokens.begin(), options.stop_tokens.end());
  return stops;
}

}  // namespace

std::string_view name_of(StopReason reason) { return kStopReasons[static_cast<size_t>(reason)]; }

std::vector<int32_t> end_tokens(const gguf::Gguf& file) {
  std::vector<int32_t> tokens;
  for (const auto* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                          "tokenizer.ggml.eom_token_id"}) {
    const auto id = file.unsigned_integer(key);
    if (id && *id <= INT32_MAX) tokens.push_back(static_cast<int32_t>(*id));
  }
  return tokens;
}

Result<Generation> Engine::generate(std::span<const int32_t> prompt,
                                    const GenerateOptions& options) {
  if (auto right = check(options.sampler); !right) return fail_from(right);
  Sampler sampler(options.sampler, config().vocabulary);
  const auto stops = all_stop_tokens(file().contents(), options);
  std::vector<int32_t> history(prompt.begin(), prompt.end());
  history.reserve(prompt.size() + std::min(options.tokens, context()));
  Generation generation;
  truncate(0);
  std::span<const int32_t> pending = history;
  while (generation.tokens.size() < options.tokens) {
    if (length(0) + pending.size() > context() && !generation.tokens.empty()) {
      generation.stopped = StopReason::context_full;
      break;
    }
    const Feed feed{0, pending};
    if (auto fed = this->feed({&feed, 1}); !fed) return fail_from(fed);
    const auto token = sampler.next(logits(0), history);
    if (!token) return fail_from(token);
    if (std::ranges::find(stops, *token) != stops.end()) {
      generation.stopped = StopReason::stop_token;
      break;
    }
    generation.tokens.push_back(*token);
    history.push_back(*token);
    if (options.on_token && !options.on_token(*token)) {
      generation.stopped = StopReason::cancelled;
      break;
    }
    pending = std::span(history).last(1);
  }
  return generation;
}

}  // namespace trilobite::model
