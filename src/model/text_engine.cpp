// The installed trilobite::Engine: model::Engine with text instead of token ids.

#include <algorithm>
#include <functional>
#include <memory>
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
  auto engine = model::Engine::load(path, {.threads = options.threads,
                                           .context = options.context,
                                           .sequences = options.sequences,
                                           .kv_type = kv_type(options.kv)});
  if (!engine) return std::unexpected(engine.error());
  auto tokenizer = load_tokenizer(engine->file().contents());
  if (!tokenizer) return std::unexpected(tokenizer.error().context(path.string()));
  return Engine(std::make_unique<State>(State{*std::move(engine), *std::move(tokenizer)}));
}

const Tokenizer& Engine::tokenizer() const { return state_->tokenizer; }
std::string_view Engine::architecture() const { return state_->engine.config().architecture_name; }

namespace {

/// Text out of the tokens that continue a prompt, up to a stop text.
class TextSink {
 public:
  TextSink(const Tokenizer& tokenizer, std::span<const TokenId> prompt, const Sampling& sampling)
      : stream_(tokenizer), stops_(sampling.stop_texts), on_text_(sampling.on_text) {
    stream_.continue_after(prompt);
  }
  /// False when nothing more is wanted.
  bool take(TokenId token) { return take_text(stream_.push(token)); }
  std::string finish() {
    take_text(stream_.finish());
    give(stops_.finish());
    return std::move(text_);
  }

 private:
  bool take_text(std::string_view piece) { return give(stops_.push(piece)) && !stops_.stopped(); }
  bool give(std::string_view piece) {
    text_ += piece;
    return piece.empty() || !on_text_ || on_text_(piece);
  }

  StreamDecoder stream_;
  model::StopTexts stops_;
  const std::function<bool(std::string_view)>& on_text_;
  std::string text_;
};

model::GenerateOptions options_of(const Sampling& sampling, size_t tokens, TextSink& sink) {
  return {.tokens = tokens,
          .sampler = {.temperature = sampling.temperature,
                      .top_k = sampling.top_k,
                      .top_p = sampling.top_p,
                      .min_p = sampling.min_p,
                      .repetition_penalty = sampling.repetition_penalty,
                      .seed = sampling.seed},
          .stop_tokens = sampling.stop_tokens,
          .ignore_end = sampling.ignore_end,
          .on_token = [&sink](int32_t token) { return sink.take(token); }};
}

Result<void> check_stop_texts(const Sampling& sampling) {
  if (std::ranges::find(sampling.stop_texts, "") != sampling.stop_texts.end())
    return fail("a stop text is empty; nothing could come before it");
  return {};
}

}  // namespace

Result<std::string> Engine::generate(std::string_view prompt, size_t tokens,
                                     const Sampling& sampling) {
  if (auto right = check_stop_texts(sampling); !right) return std::unexpected(right.error());
  const auto ids = state_->tokenizer.encode(prompt);
  TextSink sink(state_->tokenizer, ids, sampling);
  const auto generation = state_->engine.generate(ids, options_of(sampling, tokens, sink));
  if (!generation) return std::unexpected(generation.error());
  return sink.finish();
}

Result<std::vector<std::string>> Engine::generate(std::span<const std::string> prompts,
                                                  size_t tokens, const Sampling& sampling) {
  if (auto right = check_stop_texts(sampling); !right) return std::unexpected(right.error());
  if (sampling.on_text) return fail("on_text cannot tell several texts apart; leave it empty");
  std::vector<std::vector<TokenId>> ids;
  for (const auto& prompt : prompts) ids.push_back(state_->tokenizer.encode(prompt));
  std::vector<std::unique_ptr<TextSink>> sinks;
  std::vector<model::Request> requests;
  for (const auto& prompt : ids) {
    sinks.push_back(std::make_unique<TextSink>(state_->tokenizer, prompt, sampling));
    requests.push_back({prompt, options_of(sampling, tokens, *sinks.back())});
  }
  const auto generations = state_->engine.generate_all(requests);
  if (!generations) return std::unexpected(generations.error());
  std::vector<std::string> texts;
  for (const auto& sink : sinks) texts.push_back(sink->finish());
  return texts;
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
