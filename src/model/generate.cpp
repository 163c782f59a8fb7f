// Engine::generate, and what ends a generation.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "model/engine.hpp"

namespace trilobite::model {
namespace {

constexpr size_t kNone = SIZE_MAX;

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

namespace {

/// A request that has a sequence of the cache.
struct Running {
  size_t request;
  size_t sequence;
  Sampler sampler;
  std::vector<int32_t> stops;
  std::vector<int32_t> history;  // prompt and continuation
  size_t fed = 0;                // of these the engine has read

  std::span<const int32_t> pending() const { return std::span(history).subspan(fed); }
};

/// Takes a new token; the reason when it ends the generation.
std::optional<StopReason> take(int32_t token, Running& running, const GenerateOptions& options,
                               Generation& to) {
  if (std::ranges::find(running.stops, token) != running.stops.end()) return StopReason::stop_token;
  to.tokens.push_back(token);
  running.history.push_back(token);
  if (options.on_token && !options.on_token(token)) return StopReason::cancelled;
  if (to.tokens.size() == options.tokens) return StopReason::length;
  return std::nullopt;
}

}  // namespace

/// Said before anything is computed, because an error loses the continuations of all.
Result<void> Engine::check_prompts(std::span<const Request> requests) const {
  for (size_t i = 0; i < requests.size() && requests.size() > 1; ++i) {
    const size_t tokens = requests[i].prompt.size();
    if (tokens > 0 && tokens <= context()) continue;
    return fail(fmt::format("prompt {} of {} has {} tokens; a context of {} takes 1 to {}", i + 1,
                            requests.size(), tokens, context(), context()));
  }
  return {};
}

Result<std::vector<Generation>> Engine::generate_all(std::span<const Request> requests) {
  if (auto right = check_prompts(requests); !right) return fail_from(right);
  for (const auto& request : requests) {
    if (auto right = check(request.options.sampler); !right) return fail_from(right);
  }
  std::vector<Generation> all(requests.size());
  std::vector<size_t> free;
  for (size_t s = sequences(); s > 0; --s) free.push_back(s - 1);
  std::vector<Running> running;
  std::vector<Feed> feeds;
  const auto is_full = [&](const Running& r) {
    return length(r.sequence) + r.pending().size() > context() && !all[r.request].tokens.empty();
  };
  for (size_t next = 0; next < requests.size() || !running.empty();) {
    for (; next < requests.size() && !free.empty(); ++next) {
      const auto& [prompt, options] = requests[next];
      if (options.tokens == 0) continue;
      truncate(free.back());
      running.push_back({.request = next,
                         .sequence = free.back(),
                         .sampler = Sampler(options.sampler, config().vocabulary),
                         .stops = all_stop_tokens(file().contents(), options),
                         .history = {prompt.begin(), prompt.end()}});
      running.back().history.reserve(prompt.size() + std::min(options.tokens, context()));
      free.pop_back();
    }
    feeds.clear();
    for (const auto& r : running) feeds.push_back({r.sequence, r.pending()});
    if (auto fed = feed(feeds); !fed) return fail_from(fed);
    for (size_t i = 0; i < running.size(); ++i) {
      Running& r = running[i];
      const auto token = r.sampler.next(logits(i), r.history);
      if (!token) return fail_from(token);
      r.fed = r.history.size();
      auto& generation = all[r.request];
      auto stopped = take(*token, r, requests[r.request].options, generation);
      if (!stopped && is_full(r)) stopped = StopReason::context_full;
      if (!stopped) continue;
      generation.stopped = *stopped;
      free.push_back(r.sequence);
      r.sequence = kNone;
    }
    std::erase_if(running, [](const Running& r) { return r.sequence == kNone; });
  }
  return all;
}

Result<Generation> Engine::generate(std::span<const int32_t> prompt,
                                    const GenerateOptions& options) {
  const Request request{prompt, options};
  auto all = generate_all({&request, 1});
  if (!all) return fail_from(all);
  return std::move(all->front());
}

}  // namespace trilobite::model
