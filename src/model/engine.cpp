#include "model/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/cpu_info.hpp"
#include "model/batch_builder.hpp"
#include "model/forward.hpp"

namespace trilobite::model {
namespace {

// Logits of a prompt's tokens are made for so many of them at a time.
constexpr size_t kLogitRows = 16;

size_t chosen_context(const ModelConfig& config, const EngineOptions& options) {
  return options.context != 0 ? options.context : std::min(config.context, kDefaultContext);
}

/// Dense weights are packed anew for every batch, so longer ones are faster (BERT, 8 texts of 128
/// tokens, in turns: 2,352 and 2,218 tokens/s instead of 2,008 and 2,192 with 256). Others gain 1 %
/// from it and need 25 MB more (2B shape).
size_t chosen_batch(const TransformerWeights& weights, const EngineOptions& options) {
  constexpr size_t kBatch = 256, kDenseBatch = 512;
  if (options.batch_tokens != 0) return options.batch_tokens;
  const auto is_dense = [](const Layer& layer) { return layer.up->is_dense(); };
  return std::ranges::any_of(weights.layers, is_dense) ? kDenseBatch : kBatch;
}

kernels::KvType chosen_kv_type(const ModelConfig& config, const EngineOptions& options) {
  if (options.kv_type) return *options.kv_type;
  const size_t positions = options.context * options.sequences;
  const size_t bytes = 2 * sizeof(float) * config.layers * positions * config.kv_width();
  return bytes <= kSmallCacheBytes ? kernels::KvType::f32 : kernels::KvType::f16;
}

Result<void> check_options(const ModelConfig& config, const EngineOptions& options) {
  if (options.context > config.context) {
    return fail(fmt::format("a context of {} tokens was asked for, the model was made for {}",
                            options.context, config.context));
  }
  if (options.sequences == 0 || options.sequences > kMostSequences) {
    return fail(fmt::format("{} sequences were asked for; an engine has 1 to {}", options.sequences,
                            kMostSequences));
  }
  return {};
}

/// Appends what a text's hidden states come down to.
void append_pooled(const Forward& forward, const TokenRun& run, Pooling pooling,
                   std::vector<float>& to) {
  const auto append = [&](std::span<const float> row) {
    to.insert(to.end(), row.begin(), row.end());
  };
  if (pooling == Pooling::cls) return append(forward.hidden(run.first_row));
  if (pooling == Pooling::none) {
    for (size_t t = 0; t < run.tokens; ++t) append(forward.hidden(run.first_row + t));
    return;
  }
  std::vector<double> mean(forward.hidden(run.first_row).size());
  for (size_t t = 0; t < run.tokens; ++t) {
    const auto row = forward.hidden(run.first_row + t);
    for (size_t i = 0; i < mean.size(); ++i)
      mean[i] += static_cast<double>(row[i]) / static_cast<double>(run.tokens);
  }
  to.insert(to.end(), mean.begin(), mean.end());
}

}  // namespace

struct Engine::State {
  gguf::GgufFile file;
  EngineOptions options;
  ThreadPool pool;
  CpuInfo cpu;
  TransformerWeights weights;
  std::optional<Forward> forward;
  BatchBuilder batch;
  AlignedBuffer logits;            // [logit_rows][vocabulary]
  std::vector<size_t> logit_rows;  // reserved

  State(gguf::GgufFile opened, const EngineOptions& chosen)
      : file(std::move(opened)),
        options(chosen),
        pool(chosen.threads != 0 ? chosen.threads : usable_cpus()),
        cpu(read_cpu_info()) {}

  Result<void> prepare();
  Result<void> check_feed(const Feed& feed) const;
  Result<void> run_batch();
  float* logits_row(size_t row) {
    return logits.as<float>().data() + row * weights.config.vocabulary;
  }
};

Result<void> Engine::State::prepare() {
  auto loaded = load_transformer(file, pool, options.weights);
  if (!loaded) return fail_from(loaded);
  weights = *std::move(loaded);
  const auto& config = weights.config;
  if (auto right = check_options(config, options); !right) return right;
  options.context = chosen_context(config, options);
  options.kv_type = chosen_kv_type(config, options);
  options.batch_tokens = chosen_batch(weights, options);
  // A text is encoded as a whole when the model is not causal.
  options.batch_tokens = config.is_causal ? std::min(options.batch_tokens, options.context)
                                          : std::max(options.batch_tokens, options.context);
  options.batch_tokens = std::max(options.batch_tokens, options.sequences);
  auto made = Forward::create(weights, pool, cpu,
                              {.max_tokens = options.batch_tokens,
                               .sequences = options.sequences,
                               .context = options.context,
                               .kv_type = *options.kv_type,
                               .gelu_erf = options.gelu_erf});
  if (!made) return fail_from(made);
  forward.emplace(*std::move(made));
  batch = BatchBuilder(options.batch_tokens, options.sequences);
  if (!weights.head) return {};
  const size_t rows = std::max(options.sequences, std::min(kLogitRows, options.batch_tokens));
  logit_rows.reserve(rows);
  auto buffer = AlignedBuffer::allocate(rows * config.vocabulary * sizeof(float));
  if (!buffer) return fail_from(buffer, "the logits");
  logits = *std::move(buffer);
  return {};
}

Result<void> Engine::State::check_feed(const Feed& feed) const {
  const auto& config = weights.config;
  if (!config.is_causal)
    return fail(fmt::format("a {} model gives embeddings, no logits", config.architecture_name));
  if (feed.sequence >= options.sequences)
    return fail(fmt::format("there is no sequence {}; the engine was loaded with {}", feed.sequence,
                            options.sequences));
  if (feed.tokens.empty()) return fail("there are no tokens");
  if (auto known = check_ids(feed.tokens, config.vocabulary); !known) return known;
  const size_t length = forward->cache().length(feed.sequence);
  if (feed.tokens.size() > options.context - length) {
    return fail(
        fmt::format("{} tokens do not fit behind {} in a context of {}; use a larger "
                    "--context (the model allows {}) or a shorter text",
                    feed.tokens.size(), length, options.context, config.context));
  }
  return {};
}

Result<void> Engine::State::run_batch() {
  if (auto done = forward->run(batch.tokens(), batch.runs()); !done) return done;
  auto& cache = forward->cache();
  for (const auto& run : batch.runs()) cache.set_length(run.sequence, run.position + run.tokens);
  return {};
}

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Result<Engine> Engine::load(const Path& path, const EngineOptions& options) {
  auto file = gguf::GgufFile::open(path);
  if (!file) return fail_from(file);
  auto state = std::make_unique<State>(*std::move(file), options);
  if (auto ready = state->prepare(); !ready) return fail_from(ready, path.string());
  return Engine(std::move(state));
}

const ModelConfig& Engine::config() const { return state_->weights.config; }
const gguf::GgufFile& Engine::file() const { return state_->file; }
unsigned Engine::threads() const { return state_->pool.threads(); }
size_t Engine::context() const { return state_->options.context; }
size_t Engine::sequences() const { return state_->options.sequences; }
kernels::KvType Engine::kv_type() const { return *state_->options.kv_type; }
size_t Engine::weight_bytes_per_token() const { return state_->weights.bytes_per_token(); }
size_t Engine::kv_bytes_per_position() const { return state_->forward->cache().position_bytes(); }

EngineMemory Engine::memory() const {
  return {.mapped_weights = state_->weights.memory.mapped_bytes,
          .packed_weights = state_->weights.memory.packed_bytes,
          .kv_cache = state_->forward->cache().bytes(),
          .scratch = state_->forward->scratch_bytes() + state_->logits.size()};
}

std::vector<std::pair<std::string, size_t>> Engine::kernels_used() const {
  std::map<std::string, size_t> counts;
  state_->weights.for_each_linear(
      [&](const Linear& linear) { ++counts[std::string(linear.kernel())]; });
  return {counts.begin(), counts.end()};
}

size_t Engine::length(size_t sequence) const { return state_->forward->cache().length(sequence); }

void Engine::truncate(size_t sequence, size_t length) {
  auto& cache = state_->forward->cache();
  cache.set_length(sequence, std::min(length, cache.length(sequence)));
}

Result<void> Engine::feed(std::span<const Feed> feeds) {
  State& state = *state_;
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (auto right = state.check_feed(feeds[i]); !right) return right;
    const auto before = feeds.first(i);
    if (std::ranges::find(before, feeds[i].sequence, &Feed::sequence) != before.end())
      return fail(fmt::format("sequence {} is fed twice in one call", feeds[i].sequence));
  }
  state.batch.start(feeds);
  while (state.batch.next(state.forward->cache())) {
    if (auto done = state.run_batch(); !done) return done;
    // Feeds end in the order in which they were given, so their logits are neighbours.
    const auto ended = state.batch.ended();
    if (ended.rows.empty()) continue;
    auto done = state.forward->logits(ended.rows, state.logits_row(ended.first_feed));
    if (!done) return done;
  }
  return {};
}

std::span<const float> Engine::logits(size_t feed) const {
  return {state_->logits_row(feed), state_->weights.config.vocabulary};
}

Result<void> Engine::feed_each(const Feed& feed, const LogitsSink& sink) {
  State& state = *state_;
  if (auto right = state.check_feed(feed); !right) return right;
  state.batch.start({&feed, 1});
  size_t index = 0;
  while (state.batch.next(state.forward->cache())) {
    if (auto done = state.run_batch(); !done) return done;
    const size_t tokens = state.batch.tokens().size();
    for (size_t first = 0; first < tokens; first += state.logit_rows.capacity()) {
      state.logit_rows.clear();
      const size_t last = std::min(tokens, first + state.logit_rows.capacity());
      for (size_t row = first; row < last; ++row) state.logit_rows.push_back(row);
      auto done = state.forward->logits(state.logit_rows, state.logits_row(0));
      if (!done) return done;
      for (size_t row = first; row < last; ++row) sink(index++, logits(row - first));
    }
  }
  return {};
}

Result<std::vector<float>> Engine::embed(std::span<const std::vector<int32_t>> texts,
                                         Pooling pooling) {
  State& state = *state_;
  const auto& config = state.weights.config;
  if (config.is_causal)
    return fail(fmt::format("a {} model gives no embeddings; bert does", config.architecture_name));
  std::vector<float> result;
  const auto flush = [&]() -> Result<void> {
    if (state.batch.runs().empty()) return {};
    if (auto done = state.forward->run(state.batch.tokens(), state.batch.runs()); !done)
      return done;
    for (const auto& run : state.batch.runs()) append_pooled(*state.forward, run, pooling, result);
    state.batch.clear();
    return {};
  };
  state.batch.clear();
  for (const auto& text : texts) {
    if (text.empty() || text.size() > state.options.context) {
      return fail(fmt::format("a text has {} tokens; the model takes 1 to {}", text.size(),
                              state.options.context));
    }
    if (auto known = check_ids(text, config.vocabulary); !known) return fail_from(known);
    if (!state.batch.fits(text.size())) {
      if (auto done = flush(); !done) return fail_from(done);
    }
    state.batch.add_text(text);
  }
  if (auto done = flush(); !done) return fail_from(done);
  return result;
}

}  // namespace trilobite::model
