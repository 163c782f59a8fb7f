// The fast forward pass against the reference on made-up models of every architecture and weight
// type, and what an engine promises beyond numbers.

#include "model/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "base/temporary_folder_for_test.hpp"
#include "fixtures/make_fixture.hpp"
#include "measure/allocation_count.hpp"
#include "model/perplexity.hpp"
#include "model/reference_model.hpp"
#include "modelfile/tensor_codec.hpp"

namespace trilobite::model {
namespace {

using gguf::TensorType;
using kernels::KvType;
using testing::HasSubstr;

std::vector<int32_t> some_ids(size_t count, size_t vocabulary, uint64_t seed = 5) {
  Rng rng(seed);
  std::vector<int32_t> ids(count);
  for (auto& id : ids) id = static_cast<int32_t>(rng.below(vocabulary));
  return ids;
}

double relative_distance(std::span<const float> a, std::span<const float> b) {
  double squares = 0;
  double norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double gap = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    squares += gap * gap;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return std::sqrt(squares / norm);
}

/// Makes tiny models in a folder of its own.
class EngineTest : public testing::Test {
 protected:
  Path fixture(const std::string& architecture, std::optional<TensorType> type = std::nullopt) {
    auto made = fixtures::make_fixture({.architecture = architecture,
                                        .size = "tiny",
                                        .type = type,
                                        .head = type,
                                        .embedding = type},
                                       folder_.path(), pool_);
    EXPECT_TRUE(made) << made.error().message();
    return made->path;
  }
  static Engine load(const Path& path, const EngineOptions& options = {.threads = 2}) {
    auto engine = Engine::load(path, options);
    EXPECT_TRUE(engine) << engine.error().message();
    return *std::move(engine);
  }
  /// All logits of a sequence.
  static std::vector<float> logits_of(Engine& engine, std::span<const int32_t> ids) {
    std::vector<float> all;
    engine.truncate(0);
    const auto done = engine.feed_each({0, ids}, [&](size_t, std::span<const float> row) {
      all.insert(all.end(), row.begin(), row.end());
    });
    EXPECT_TRUE(done) << done.error().message();
    return all;
  }

  TemporaryFolder folder_;
  ThreadPool pool_{2};
};

struct Bound {
  const char* architecture;
  TensorType type;
  double relative;  // distance from the reference, which rounds no activations
};

class EveryModel : public EngineTest, public testing::WithParamInterface<Bound> {};

TEST_P(EveryModel, cpu_and_reference_agree) {
  const auto path = fixture(GetParam().architecture, GetParam().type);
  const auto file = gguf::GgufFile::open(path);
  const auto reference = ReferenceModel::load(file->contents(), {});
  ASSERT_TRUE(reference) << reference.error().message();
  const auto ids = some_ids(37, reference->config().vocabulary);
  const auto hidden = reference->hidden(ids);
  auto engine = load(path, {.threads = 2, .kv_type = KvType::f32});
  std::vector<float> expected;
  std::vector<float> got;
  if (reference->config().is_causal) {
    for (size_t t = 0; t < ids.size(); ++t) {
      const auto row = reference->logits(hidden, t);
      expected.insert(expected.end(), row.begin(), row.end());
    }
    got = logits_of(engine, ids);
  } else {
    expected.assign(hidden.begin(), hidden.end());
    got = engine.embed(std::vector<std::vector<int32_t>>{ids}, Pooling::none).value();
  }
  ASSERT_EQ(got.size(), expected.size());
  EXPECT_LE(relative_distance(got, expected), GetParam().relative);
}

constexpr double kExact = 1e-5;
constexpr double kInt8 = 0.06;
INSTANTIATE_TEST_SUITE_P(
    Fixtures, EveryModel,
    testing::Values(
        Bound{"llama", TensorType::f32, kExact}, Bound{"llama", TensorType::f16, kExact},
        Bound{"llama", TensorType::bf16, kExact}, Bound{"llama", TensorType::q8_0, kInt8},
        Bound{"llama", TensorType::q4_0, kInt8}, Bound{"llama", TensorType::q4_1, kInt8},
        Bound{"llama", TensorType::q4_k, kInt8}, Bound{"llama", TensorType::q6_k, kInt8},
        Bound{"llama", TensorType::i2_s, kInt8}, Bound{"bitnet-b1.58", TensorType::i2_s, kInt8},
        Bound{"bitnet", TensorType::f16, kExact}, Bound{"bitnet", TensorType::q8_0, kInt8},
        Bound{"bitnet-b1.58", TensorType::f16, kExact}, Bound{"gpt2", TensorType::f32, kExact},
        Bound{"gpt2", TensorType::q8_0, kInt8}, Bound{"bert", TensorType::f32, kExact},
        Bound{"bert", TensorType::q8_0, kInt8}),
    [](const auto& test) {
      std::string name =
          std::string(test.param.architecture) + "_" + std::string(gguf::name_of(test.param.type));
      for (auto& letter : name) {
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
      }
      return name;
    });

TEST_F(EngineTest, ternary_weights_agree_with_the_reference_in_both_forms) {
  const auto path = fixture("bitnet-b1.58");
  const auto file = gguf::GgufFile::open(path);
  const auto reference = ReferenceModel::load(file->contents(), {});
  const auto ids = some_ids(20, reference->config().vocabulary);
  const auto hidden = reference->hidden(ids);
  const auto expected = reference->logits(hidden, ids.size() - 1);
  auto two = load(path, {.threads = 2, .kv_type = KvType::f32});
  auto five = load(path, {.threads = 2,
                          .kv_type = KvType::f32,
                          .weights = {.ternary_form = quant::TernaryForm::five_trits_a_byte}});
  const auto a = logits_of(two, ids);
  EXPECT_EQ(a, logits_of(five, ids)) << "2.0 and 1.6 bits are the same weights";
  EXPECT_LE(relative_distance(std::span(a).last(expected.size()), expected), kInt8);
}

/// The I2_S tensors of a file in another layout.
void rewrite_i2s(const Path& path, quant::I2sLayout layout) {
  auto content = read_file(path).value();
  const auto parsed = gguf::Gguf::parse(std::as_bytes(std::span(content))).value();
  for (const auto& tensor : parsed.tensors()) {
    if (tensor.type->type != TensorType::i2_s) continue;
    const auto at = reinterpret_cast<const char*>(tensor.data.data()) - content.data();
    const auto ternary =
        quant::unpack_i2s(quant::I2sLayout::x86_block128, modelfile::packed_view(tensor));
    const auto packed = quant::pack_i2s(ternary.value(), layout);
    std::ranges::copy(packed, reinterpret_cast<uint8_t*>(content.data() + at));
  }
  ASSERT_TRUE(write_file_atomically(path, content));
}

TEST_F(EngineTest, every_layout_of_i2s_is_the_same_model) {
  const auto path = fixture("bitnet-b1.58", TensorType::i2_s);
  auto ours = load(path);
  const auto ids = some_ids(9, ours.config().vocabulary);
  const auto expected = logits_of(ours, ids);
  for (const auto layout : {quant::I2sLayout::arm_block64, quant::I2sLayout::x86_four_rows}) {
    const auto copy = folder_.path() / "copy.gguf";
    std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
    rewrite_i2s(copy, layout);
    auto engine = load(copy, {.threads = 2, .weights = {.i2s_layout = layout}});
    EXPECT_EQ(logits_of(engine, ids), expected) << quant::name_of(layout);
    const auto file = gguf::GgufFile::open(copy);
    const auto reference = ReferenceModel::load(file->contents(), {.i2s_layout = layout});
    const auto row = reference->logits(reference->hidden(ids), ids.size() - 1);
    EXPECT_LE(relative_distance(std::span(expected).last(row.size()), row), kInt8);
  }
}

TEST_F(EngineTest, a_prompt_in_pieces_gives_the_logits_of_the_whole) {
  for (const char* architecture : {"llama", "gpt2"}) {
    auto engine = load(fixture(architecture, TensorType::f32), {.threads = 2, .batch_tokens = 7});
    const auto ids = some_ids(40, engine.config().vocabulary);
    const auto whole = logits_of(engine, ids);
    engine.truncate(0);
    for (size_t i = 0; i < ids.size(); ++i) {
      const Feed feed{0, std::span(ids).subspan(i, 1)};
      ASSERT_TRUE(engine.feed({&feed, 1}));
      const size_t vocabulary = engine.config().vocabulary;
      EXPECT_LE(
          relative_distance(engine.logits(0), std::span(whole).subspan(i * vocabulary, vocabulary)),
          1e-5)
          << architecture << " token " << i;
    }
  }
}

TEST_F(EngineTest, sequences_do_not_know_of_each_other) {
  const auto path = fixture("llama", TensorType::f32);
  auto alone = load(path);
  auto together = load(path, {.threads = 2, .batch_tokens = 16, .sequences = 3});
  const size_t vocabulary = alone.config().vocabulary;
  const std::vector<std::vector<int32_t>> texts{
      some_ids(9, vocabulary, 1), some_ids(30, vocabulary, 2), some_ids(2, vocabulary, 3)};
  std::vector<Feed> feeds;
  for (size_t s = 0; s < 3; ++s) feeds.push_back({2 - s, texts[s]});
  ASSERT_TRUE(together.feed(feeds));
  for (size_t s = 0; s < 3; ++s) {
    const auto expected = logits_of(alone, texts[s]);
    EXPECT_LE(relative_distance(together.logits(s), std::span(expected).last(vocabulary)), 1e-5);
    EXPECT_EQ(together.length(2 - s), texts[s].size());
  }
}

TEST_F(EngineTest, the_number_of_threads_changes_no_bit) {
  for (const char* architecture : {"llama", "bitnet-b1.58", "gpt2"}) {
    const auto path = fixture(architecture);
    auto one = load(path, {.threads = 1});
    auto three = load(path, {.threads = 3});
    const auto ids = some_ids(50, one.config().vocabulary);
    EXPECT_EQ(logits_of(one, ids), logits_of(three, ids)) << architecture;
  }
}

TEST_F(EngineTest, smaller_caches_stay_near) {
  const auto path = fixture("llama", TensorType::f32);
  auto exact = load(path, {.threads = 1, .kv_type = KvType::f32});
  const auto ids = some_ids(50, exact.config().vocabulary);
  const auto expected = logits_of(exact, ids);
  auto half = load(path, {.threads = 1, .kv_type = KvType::f16});
  auto byte = load(path, {.threads = 1, .kv_type = KvType::int8});
  EXPECT_LE(relative_distance(logits_of(half, ids), expected), 2e-3);
  EXPECT_LE(relative_distance(logits_of(byte, ids), expected), 3e-2);
}

TEST_F(EngineTest, decoding_a_token_allocates_nothing) {
  use_counting_malloc();
  if (!allocations_are_counted()) GTEST_SKIP() << "allocations cannot be counted in this build";
  for (const char* architecture : {"llama", "bitnet-b1.58", "gpt2"}) {
    auto engine = load(fixture(architecture));
    const auto ids = some_ids(20, engine.config().vocabulary);
    const Feed prompt{0, ids};
    ASSERT_TRUE(engine.feed({&prompt, 1}));
    const Feed next{0, std::span(ids).first(1)};
    ASSERT_TRUE(engine.feed({&next, 1}));
    start_counting_allocations();
    const bool fed = engine.feed({&next, 1}).has_value();
    const auto count = stop_counting_allocations();
    ASSERT_TRUE(fed);
    EXPECT_EQ(count.allocations, 0U) << architecture;
  }
}

TEST_F(EngineTest, generation_is_greedy_seeded_and_can_be_stopped) {
  auto engine = load(fixture("llama"));
  const auto prompt = some_ids(5, engine.config().vocabulary);
  GenerateOptions options{.tokens = 12, .ignore_end = true};
  const auto greedy = engine.generate(prompt, options).value();
  EXPECT_EQ(greedy.tokens.size(), 12U);
  EXPECT_EQ(greedy.stopped, StopReason::length);
  EXPECT_EQ(engine.generate(prompt, options)->tokens, greedy.tokens);

  options.stop_tokens = {greedy.tokens[3]};
  const auto stopped = engine.generate(prompt, options).value();
  EXPECT_EQ(stopped.stopped, StopReason::stop_token);
  EXPECT_LE(stopped.tokens.size(), 3U);

  options.stop_tokens.clear();
  size_t seen = 0;
  options.on_token = [&](int32_t) { return ++seen < 4; };
  const auto cancelled = engine.generate(prompt, options).value();
  EXPECT_EQ(cancelled.stopped, StopReason::cancelled);
  EXPECT_EQ(cancelled.tokens.size(), 4U);

  options.on_token = nullptr;
  options.sampler = {.temperature = 1.0f, .seed = 3};
  const auto drawn = engine.generate(prompt, options)->tokens;
  EXPECT_EQ(engine.generate(prompt, options)->tokens, drawn);
  options.sampler.seed = 4;
  EXPECT_NE(engine.generate(prompt, options)->tokens, drawn);
}

TEST_F(EngineTest, a_full_context_ends_generation_and_refuses_more) {
  auto engine = load(fixture("llama"), {.threads = 1, .context = 16});
  const auto prompt = some_ids(10, engine.config().vocabulary);
  const auto generation = engine.generate(prompt, {.tokens = 100, .ignore_end = true}).value();
  EXPECT_EQ(generation.stopped, StopReason::context_full);
  EXPECT_EQ(generation.tokens.size(), 7U);  // the last one needs no room
  const auto long_prompt = some_ids(17, engine.config().vocabulary);
  EXPECT_THAT(engine.generate(long_prompt, {}).error().message(),
              HasSubstr("17 tokens do not fit behind 0 in a context of 16"));
}

TEST_F(EngineTest, wrong_requests_are_errors) {
  const auto path = fixture("llama");
  auto engine = load(path);
  const std::vector<int32_t> unknown{0, 1 << 30};
  const std::vector<int32_t> negative{-1};
  const auto error = [&](const Feed& feed) {
    const auto fed = engine.feed({&feed, 1});
    return fed ? "fine" : fed.error().message();
  };
  EXPECT_THAT(error({0, unknown}), HasSubstr("no token 1073741824"));
  EXPECT_THAT(error({0, negative}), HasSubstr("no token -1"));
  EXPECT_THAT(error({7, negative}), HasSubstr("no sequence 7"));
  EXPECT_THAT(error({0, {}}), HasSubstr("no tokens"));
  auto several = load(path, {.threads = 1, .sequences = 3});
  const std::vector<int32_t> one{1};
  const std::vector<Feed> twice{{1, one}, {0, one}, {1, one}};
  EXPECT_THAT(several.feed(twice).error().message(), HasSubstr("sequence 1 is fed twice"));
  EXPECT_EQ(several.length(0) + several.length(1), 0U);
  EXPECT_THAT(engine.embed({}, Pooling::mean).error().message(), HasSubstr("no embeddings"));
  EXPECT_THAT(Engine::load(path, {.context = 1 << 23}).error().message(), HasSubstr("made for"));
  EXPECT_THAT(Engine::load(folder_.path() / "nothing.gguf").error().message(),
              HasSubstr("nothing.gguf"));
  auto bert = load(fixture("bert"));
  const Feed feed{0, negative};
  EXPECT_THAT(bert.feed({&feed, 1}).error().message(), HasSubstr("embeddings, no logits"));
}

TEST_F(EngineTest, texts_of_a_batch_are_embedded_as_if_alone) {
  auto engine = load(fixture("bert", TensorType::f32));
  const size_t vocabulary = engine.config().vocabulary;
  const std::vector<std::vector<int32_t>> texts{
      some_ids(4, vocabulary, 1), some_ids(33, vocabulary, 2), some_ids(1, vocabulary, 3)};
  const size_t width = engine.config().width;
  for (const Pooling pooling : {Pooling::mean, Pooling::cls}) {
    const auto all = engine.embed(texts, pooling).value();
    ASSERT_EQ(all.size(), 3 * width);
    for (size_t i = 0; i < 3; ++i) {
      const auto alone = engine.embed(std::span(texts).subspan(i, 1), pooling).value();
      EXPECT_LE(relative_distance(std::span(all).subspan(i * width, width), alone), 1e-5);
    }
  }
}

TEST_F(EngineTest, perplexity_is_that_of_the_likelihoods) {
  auto engine = load(fixture("llama", TensorType::f32), {.threads = 1, .context = 16});
  const auto ids = some_ids(25, engine.config().vocabulary);
  const auto result = perplexity(engine, ids, std::nullopt);
  ASSERT_TRUE(result) << result.error().message();
  // Windows of 16 and 9 tokens, the first of each not predicted.
  EXPECT_EQ(result->predicted, 23U);
  double sum = 0;
  for (const auto& [start, count] : {std::pair<size_t, size_t>{0, 16}, {16, 9}}) {
    const auto window = std::span(ids).subspan(start, count);
    const auto logits = logits_of(engine, window);
    const size_t vocabulary = engine.config().vocabulary;
    for (size_t i = 0; i + 1 < count; ++i)
      sum += negative_log_likelihood(std::span(logits).subspan(i * vocabulary, vocabulary),
                                     window[i + 1]);
  }
  EXPECT_NEAR(result->mean_nll, sum / 23, 1e-6);
  EXPECT_NEAR(result->perplexity, std::exp(sum / 23), 1e-3 * std::exp(sum / 23));
  EXPECT_LT(result->low, result->perplexity);
  EXPECT_FALSE(perplexity(engine, std::span(ids).first(1), std::nullopt));
}

TEST_F(EngineTest, perplexity_needs_a_context_that_predicts_something) {
  auto engine = load(fixture("llama", TensorType::f32), {.threads = 1, .context = 1});
  const auto ids = some_ids(5, engine.config().vocabulary);
  EXPECT_THAT(perplexity(engine, ids, 1).error().message(), HasSubstr("at least 2"));
  EXPECT_THAT(perplexity(engine, ids, std::nullopt).error().message(), HasSubstr("at least 2"));
}

}  // namespace
}  // namespace trilobite::model
