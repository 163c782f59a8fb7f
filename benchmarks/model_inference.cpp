// Suite model_inference: whole models of true shape with random weights. Prompts, decoding,
// several sequences at once, embeddings. TRILOBITE_SMALL=1 runs small models instead.

#include <algorithm>
#include <cstdlib>

#include "base/rng.hpp"
#include "kernels/isa.hpp"
#include "model_inference_models.hpp"
#include "quant/error_measures.hpp"
#include "trilobite/bench.hpp"

namespace trilobite::benchmarks {
namespace {

// What may differ between one way of computing a logit and another: the same integers, summed in
// another order.
constexpr double kLeastCosine = 0.999;
constexpr size_t kCheckedTokens = 4;

bool small_models() {
  const char* variable = std::getenv("TRILOBITE_SMALL");
  return variable != nullptr && std::string_view(variable) != "0" && *variable != '\0';
}

struct Lengths {
  size_t prompt;
  size_t depth;  // positions before the token that is decoded
  size_t sequences;
};

Lengths lengths_of(const Bench& p) {
  const auto number = [&](const char* name) { return static_cast<size_t>(p.number(name)); };
  return {number("prompt"), number("depth"), std::max<size_t>(1, number("batch"))};
}

/// "llama-7b" and the dtype as the model that they name.
BenchmarkModel model_of(const Bench& p) {
  const auto& shape = p.shape();
  const auto dash = shape.rfind('-');
  return {shape.substr(0, dash), shape.substr(dash + 1), p.dtype()};
}

std::vector<int32_t> tokens_for(const Bench& p, const model::Engine& engine, size_t count) {
  Rng rng(p.seed());
  std::vector<int32_t> tokens(count);
  for (auto& token : tokens) token = static_cast<int32_t>(rng.below(engine.config().vocabulary));
  return tokens;
}

/// The engine that this case needs; nothing when the case has been skipped or failed.
model::Engine* engine_of(Bench& p, size_t context) {
  if (!p.isa().empty()) {
    if (const auto set = kernels::set_isa(p.isa()); !set) {
      p.skip(set.error().message());
      return nullptr;
    }
  }
  const auto give_up = [&](const Error& error) {
    error.kind() == ErrorKind::environment ? p.skip(error.message()) : p.fail(error.message());
    return nullptr;
  };
  const auto file = model_file(model_of(p));
  if (!file) return give_up(file.error());
  if (const auto enough = check_memory_for(*file); !enough) return give_up(enough.error());
  const auto engine = engine_for(
      *file, {.threads = p.threads(), .context = context, .sequences = lengths_of(p).sequences});
  if (!engine) return give_up(engine.error());
  return *engine;
}

void note_kernels(Bench& p, const model::Engine& engine) {
  std::map<std::string, uint64_t> kernels;
  for (const auto& [name, count] : engine.kernels_used()) kernels[name] = count;
  p.kernels(kernels);
  const auto memory = engine.memory();
  p.figure("mapped_weight_bytes", static_cast<double>(memory.mapped_weights));
  p.figure("packed_weight_bytes", static_cast<double>(memory.packed_weights));
  p.figure("kv_cache_bytes", static_cast<double>(memory.kv_cache));
  p.figure("scratch_bytes", static_cast<double>(memory.scratch));
}

Verification compared(std::span<const float> expected, std::span<const float> found,
                      std::string reference) {
  const auto errors = quant::measure_error(expected, found);
  Verification result(errors.cosine >= kLeastCosine);
  result.reference = std::move(reference);
  result.max_error = errors.max_abs_error;
  result.cosine = errors.cosine;
  return result;
}

/// The last logits of a short prompt read at once beside those read token by token.
Verification check_logits(model::Engine& engine, std::span<const int32_t> tokens) {
  engine.truncate(0);
  const model::Feed together{0, tokens};
  if (!engine.feed({&together, 1})) return false;
  const std::vector<float> found(engine.logits(0).begin(), engine.logits(0).end());
  engine.truncate(0);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const model::Feed single{0, tokens.subspan(i, 1)};
    if (!engine.feed({&single, 1})) return false;
  }
  return compared(engine.logits(0), found, "the same tokens one at a time");
}

void prefill(Bench& p) {
  const auto lengths = lengths_of(p);
  auto* engine = engine_of(p, lengths.prompt);
  if (engine == nullptr) return;
  const auto prompt = tokens_for(p, *engine, lengths.prompt);
  p.work({.tokens = static_cast<double>(lengths.prompt)});
  p.verify([&] { return check_logits(*engine, std::span(prompt).first(kCheckedTokens)); });
  const model::Feed feed{0, prompt};
  bool fine = true;
  p.measure([&] {
    engine->truncate(0);
    fine = engine->feed({&feed, 1}).has_value() && fine;
  });
  if (!fine) return p.fail("the model could not be run");
  note_kernels(p, *engine);
}

/// Every sequence one token further, again and again at the same place.
void decode(Bench& p) {
  const auto lengths = lengths_of(p);
  auto* engine = engine_of(p, lengths.depth + 1);
  if (engine == nullptr) return;
  const auto before = tokens_for(p, *engine, std::max(lengths.depth, kCheckedTokens));
  const double cache =
      static_cast<double>(lengths.depth * engine->kv_bytes_per_position() * lengths.sequences);
  const double bytes = static_cast<double>(engine->weight_bytes_per_token()) + cache;
  p.work({.bytes_read = bytes, .tokens = static_cast<double>(lengths.sequences)});
  p.verify([&] { return check_logits(*engine, std::span(before).first(kCheckedTokens)); });
  std::vector<model::Feed> feeds;
  for (size_t s = 0; s < lengths.sequences; ++s) {
    engine->truncate(s);
    const model::Feed prompt{s, std::span(before).first(lengths.depth)};
    if (!engine->feed({&prompt, 1})) return p.fail("the prompt could not be read");
    feeds.push_back({s, std::span(before).first(1)});
  }
  bool fine = true;
  p.measure([&] {
    for (const auto& feed : feeds) engine->truncate(feed.sequence, lengths.depth);
    fine = engine->feed(feeds).has_value() && fine;
  });
  if (!fine) return p.fail("the model could not be run");
  note_kernels(p, *engine);
}

void embed(Bench& p) {
  const auto lengths = lengths_of(p);
  auto* engine = engine_of(p, lengths.prompt);
  if (engine == nullptr) return;
  const auto text = tokens_for(p, *engine, lengths.prompt);
  const std::vector<std::vector<int32_t>> texts(lengths.sequences, text);
  p.work({.items = static_cast<double>(lengths.sequences),
          .tokens = static_cast<double>(lengths.sequences * lengths.prompt)});
  p.verify([&]() -> Verification {
    const std::vector<std::vector<int32_t>> beside{text, {text.front()}};
    const auto alone = engine->embed({&text, 1}, model::Pooling::mean);
    const auto both = engine->embed(beside, model::Pooling::mean);
    if (!alone || !both) return false;
    return compared(*alone, std::span(*both).first(alone->size()),
                    "the same text without another one beside it");
  });
  bool fine = true;
  p.measure([&] { fine = engine->embed(texts, model::Pooling::mean).has_value() && fine; });
  if (!fine) return p.fail("the model could not be run");
  note_kernels(p, *engine);
}

/// From a short prompt on, drawing each token.
void generate(Bench& p) {
  constexpr size_t kPrompt = 16;
  const auto count = static_cast<size_t>(p.number("tokens"));
  auto* engine = engine_of(p, kPrompt + count);
  if (engine == nullptr) return;
  const auto prompt = tokens_for(p, *engine, kPrompt);
  model::GenerateOptions options{.tokens = count, .ignore_end = true};
  options.sampler = {.temperature = 1.0F, .top_p = 0.9F, .seed = p.seed()};
  p.work({.tokens = static_cast<double>(count)});
  p.verify([&] { return check_logits(*engine, std::span(prompt).first(kCheckedTokens)); });
  size_t generated = count;
  p.measure([&] {
    const auto text = engine->generate(prompt, options);
    generated = std::min(generated, text ? text->tokens.size() : 0);
  });
  if (generated != count) return p.fail("it stopped before all tokens were there");
  note_kernels(p, *engine);
}

using Names = std::vector<std::string>;
using Numbers = std::vector<int64_t>;

std::vector<Case> cases_of(const std::string& type, const Names& shapes, const char* name,
                           const Numbers& values) {
  return over(axis("dtype", Names{type}), axis("shape", shapes), axis(name, values),
              axis("device", Names{"cpu"}));
}

void append(std::vector<Case>& to, std::vector<Case> more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::vector<Case> prefill_cases() {
  if (small_models()) {
    auto cases = cases_of("TQ2_0", {"bitnet-b1.58-tiny", "bitnet-b1.58-small"}, "prompt", {128});
    append(cases, cases_of("Q8_0", {"llama-tiny", "gpt2-tiny"}, "prompt", {128}));
    return cases;
  }
  auto cases = cases_of("TQ2_0", {"bitnet-b1.58-2b"}, "prompt", {128, 512});
  append(cases, cases_of("F16", {"gpt2-base", "gpt2-medium"}, "prompt", {128, 256, 512}));
  append(cases, cases_of("Q8_0", {"llama-110m"}, "prompt", {128, 512}));
  append(cases, cases_of("Q4_0", {"llama-7b", "llama-13b"}, "prompt", {64, 128, 256}));
  return cases;
}

std::vector<Case> decode_cases() {
  if (small_models()) {
    auto cases = cases_of("TQ2_0", {"bitnet-b1.58-tiny", "bitnet-b1.58-small"}, "depth", {64, 128});
    append(cases, cases_of("Q8_0", {"llama-tiny", "gpt2-tiny"}, "depth", {64}));
    return cases;
  }
  auto cases = cases_of("TQ2_0", {"bitnet-b1.58-2b"}, "depth", {64, 512, 2048});
  append(cases, cases_of("F16", {"gpt2-base", "gpt2-medium"}, "depth", {64, 512}));
  append(cases, cases_of("Q8_0", {"llama-110m"}, "depth", {64, 512}));
  append(cases, cases_of("Q4_0", {"llama-7b", "llama-13b"}, "depth", {64}));
  return cases;
}

std::vector<Case> batch_cases() {
  const auto model = small_models() ? "bitnet-b1.58-tiny" : "bitnet-b1.58-2b";
  return over(axis("dtype", Names{"TQ2_0"}), axis("shape", Names{model}),
              axis("depth", Numbers{64}), axis("batch", Numbers{1, 2, 4, 8}),
              axis("device", Names{"cpu"}));
}

std::vector<Case> embed_cases() {
  const auto cases = [](const char* type, const Names& shapes, const Numbers& prompts,
                        const Numbers& batches) {
    return over(axis("dtype", Names{type}), axis("shape", shapes), axis("prompt", prompts),
                axis("batch", batches), axis("device", Names{"cpu"}));
  };
  if (small_models()) return cases("Q8_0", {"bert-tiny"}, {128}, {1, 8});
  auto all = cases("F16", {"bert-base", "bert-large"}, {128, 256, 512}, {1});
  append(all, cases("F16", {"bert-base", "bert-large"}, {128}, {8, 16, 32, 64}));
  return all;
}

std::vector<Case> generate_cases() {
  if (small_models()) return cases_of("Q8_0", {"gpt2-tiny"}, "tokens", {20});
  return cases_of("F16", {"gpt2-base", "gpt2-medium"}, "tokens", {20, 50, 100});
}

bool register_suite() {
  const auto add = [](std::string operation, std::function<std::vector<Case>()> cases,
                      std::function<void(Bench&)> body) {
    register_benchmark(
        {"model_inference", std::move(operation), std::move(cases), std::move(body)});
  };
  add("prefill", prefill_cases, prefill);
  add("decode", decode_cases, decode);
  add("decode-batch", batch_cases, decode);
  add("embed", embed_cases, embed);
  add("generate", generate_cases, generate);
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
