// The installed trilobite::Engine: model::Engine with text instead of token ids.

#include <algorithm>
#include <utility>

#include "model/engine.hpp"
#include "model/stop_texts.hpp"
#include "tokenizer/tokenizer.hpp"
#include "trilobite/engine.hpp"

namespace trilobite {

struct Engine::State {
  model::Engine engine;
  Tokenizer tokenizer;
};

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

namespace {

std::optional<kernels::KvType> kv_type(KvPrecision precision) {
  switch (precision) {
    case KvPrecision::f32: return kernels::KvType::f32;
    case KvPrecision::f16: return kernels::KvType::f16;
    case KvPrecision::int8: return kernels::KvType::int8;
    case KvPrecision::automatic: break;
  }
  return std::nullopt;
}

}  // namespace

Result<Engine> Engine::load(const std::filesystem::path& path, const LoadOptions& options) {
  auto engine = model::Engine::load(
      path,
      {.threads = options.threads, .context = options.context, .kv_type = kv_type(options.kv)});
  if (!engine) return std::unexpected(engine.error());
  auto tokenizer = load_tokenizer(engine->file().contents());
  if (!tokenizer) return std::unexpected(tokenizer.error().context(path.string()));
  return Engine(std::make_unique<State>(State{*std::move(engine), *std::move(tokenizer)}));
}

const Tokenizer& Engine::tokenizer() const { return state_->tokenizer; }
std::string_view Engine::architecture() const { return state_->engine.config().architecture_name; }

Result<std::string> Engine::generate(std::string_view prompt, size_t tokens,
                                     const Sampling& sampling) {
  if (std::ranges::find(sampling.stop_texts, "") != sampling.stop_texts.end())
    return fail("a stop text is empty; nothing could come before it");
  std::string text;
  StreamDecoder stream(state_->tokenizer);
  model::StopTexts stops(sampling.stop_texts);
  const auto give = [&](std::string_view piece) {
    text += piece;
    return piece.empty() || !sampling.on_text || sampling.on_text(piece);
  };
  const auto take = [&](std::string_view piece) {
    return give(stops.push(piece)) && !stops.stopped();
  };
  const auto ids = state_->tokenizer.encode(prompt);
  stream.continue_after(ids);
  const auto generation = state_->engine.generate(
      ids, {.tokens = tokens,
            .sampler = {.temperature = sampling.temperature,
                        .top_k = sampling.top_k,
                        .top_p = sampling.top_p,
                        .min_p = sampling.min_p,
                        .repetition_penalty = sampling.repetition_penalty,
                        .seed = sampling.seed},
            .stop_tokens = sampling.stop_tokens,
            .ignore_end = sampling.ignore_end,
            .on_token = [&](int32_t token) { return take(stream.push(token)); }});
  if (!generation) return std::unexpected(generation.error());
  take(stream.finish());
  give(stops.finish());
  return text;
}

Result<std::vector<float>> Engine::logits(std::span<const TokenId> ids) {
  auto& engine = state_->engine;
  engine.truncate(0);
  const model::Feed feed{0, ids};
  if (auto fed = engine.feed({&feed, 1}); !fed) return std::unexpected(fed.error());
  const auto row = engine.logits(0);
  return std::vector<float>(row.begin(), row.end());
}

Result<std::vector<std::vector<float>>> Engine::embed(std::span<const std::string> texts) {
  auto& engine = state_->engine;
  std::vector<std::vector<int32_t>> ids;
  for (const auto& text : texts) ids.push_back(state_->tokenizer.encode(text));
  const auto said = engine.config().pooling;
  const auto pooling = said == model::Pooling::none ? model::Pooling::mean : said;
  const auto all = engine.embed(ids, pooling);
  if (!all) return std::unexpected(all.error());
  const size_t width = engine.config().width;
  std::vector<std::vector<float>> vectors;
  for (size_t start = 0; start < all->size(); start += width) {
    const auto row = std::span(*all).subspan(start, width);
    vectors.emplace_back(row.begin(), row.end());
  }
  return vectors;
}

}  // namespace trilobite
