// Damaged model files: an error or a model, never a crash.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "base/temporary_folder_for_test.hpp"
#include "fixtures/make_fixture.hpp"
#include "model/engine.hpp"
#include "model/perplexity.hpp"
#include "model/reference_model.hpp"
#include "modelfile/model_for_test.hpp"

namespace trilobite::model {
namespace {

using testing::HasSubstr;

class HostileModel : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ThreadPool pool(1);
    const auto made =
        fixtures::make_fixture({.architecture = GetParam(), .size = "tiny"}, folder_.path(), pool);
    ASSERT_TRUE(made) << made.error().message();
    whole_ = read_file(made->path).value();
    const auto parsed = gguf::Gguf::parse(std::as_bytes(std::span(whole_)));
    header_bytes_ = static_cast<size_t>(parsed->tensors().front().data.data() -
                                        reinterpret_cast<const std::byte*>(whole_.data()));
  }

  /// Whether the file loads and runs; what matters is that asking is safe.
  bool runs(const std::string& content) {
    const Path path = folder_.path() / "damaged.gguf";
    EXPECT_TRUE(write_file_atomically(path, content));
    auto engine = Engine::load(path, {.threads = 1, .context = 8, .batch_tokens = 8});
    if (!engine) return false;
    const std::vector<int32_t> ids{0, 1};
    if (!engine->config().is_causal)
      return engine->embed(std::vector<std::vector<int32_t>>{ids}, Pooling::mean).has_value();
    const Feed feed{0, ids};
    return engine->feed({&feed, 1}).has_value();
  }

  TemporaryFolder folder_;
  std::string whole_;
  size_t header_bytes_ = 0;
};

TEST_P(HostileModel, the_whole_file_runs) { EXPECT_TRUE(runs(whole_)); }

TEST_P(HostileModel, a_truncated_file_never_runs) {
  for (size_t i = 0; i < 40; ++i) EXPECT_FALSE(runs(whole_.substr(0, whole_.size() * i / 40)));
}

TEST_P(HostileModel, flipped_bits_of_the_header_are_survived) {
  Rng rng(11);
  size_t refused = 0;
  for (int i = 0; i < 150; ++i) {
    auto damaged = whole_;
    // Text takes most of a header; the sizes are where it begins and where it ends.
    const size_t window = std::min<size_t>(header_bytes_, 1200);
    const size_t offset = rng.below(2) == 0 ? 0 : header_bytes_ - window;
    const size_t at = offset + static_cast<size_t>(rng.below(window));
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << rng.below(8)));
    refused += runs(damaged) ? 0U : 1U;
  }
  EXPECT_GT(refused, 50U);
}

TEST_P(HostileModel, random_weights_are_survived) {
  Rng rng(12);
  auto damaged = whole_;
  for (size_t i = header_bytes_; i < damaged.size(); ++i)
    damaged[i] = static_cast<char>(rng.next_u32());
  runs(damaged);
  std::fill(damaged.begin() + static_cast<ptrdiff_t>(header_bytes_), damaged.end(), '\xFF');
  runs(damaged);
}

INSTANTIATE_TEST_SUITE_P(Architectures, HostileModel,
                         testing::Values("llama", "bitnet", "gpt2", "bert"),
                         [](const auto& test) { return std::string(test.param); });

/// Small models that are wrong in one thing.
class SmallModel : public testing::Test {
 protected:
  /// A file with these tensors besides or instead.
  Path small_model(const std::string& architecture, std::vector<modelfile::TensorForTest> others,
                   uint32_t context = 16) {
    auto shape = modelfile::small_shape(architecture);
    shape.context = context;
    auto tensors = modelfile::tensors_of(shape);
    for (auto& other : others) {
      const auto same = std::ranges::find(tensors, other.name, &modelfile::TensorForTest::name);
      if (same == tensors.end()) {
        tensors.push_back(std::move(other));
      } else {
        *same = std::move(other);
      }
    }
    modelfile::write_small_model(path_, shape, tensors);
    return path_;
  }

  TemporaryFolder folder_;
  Path path_ = folder_.path() / "small.gguf";
};

TEST_F(SmallModel, a_context_beyond_the_machine_is_an_error) {
  const auto path = small_model("llama", {}, 0x7FFFFFFF);
  const auto engine = Engine::load(path, {.threads = 1, .context = 0x7FFFFFFF, .sequences = 1024});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().kind(), ErrorKind::environment);
}

TEST_F(SmallModel, factors_that_no_frequency_can_be_divided_by_are_refused) {
  modelfile::TensorForTest factors{"rope_freqs.weight", {2}, gguf::TensorType::f32, {1.0F, 0.0F}};
  const auto path = small_model("llama", {factors});
  EXPECT_THAT(Engine::load(path).error().message(), HasSubstr("rope_freqs.weight"));
}

TEST_F(SmallModel, perplexity_of_logits_that_are_no_numbers_is_an_error) {
  modelfile::TensorForTest huge{"output_norm.weight", {8}, gguf::TensorType::f32, {}};
  huge.values.assign(8, 3e38F);
  auto engine = Engine::load(small_model("llama", {huge}), {.threads = 1});
  ASSERT_TRUE(engine) << engine.error().message();
  const std::vector<int32_t> ids{0, 1, 2, 3, 4, 3, 2, 1};
  EXPECT_THAT(perplexity(*engine, ids, std::nullopt).error().message(), HasSubstr("not a finite"));
}

/// Tensors that would be read or written out of bounds if a loader took them by name alone.
TEST_F(SmallModel, tensors_of_another_architecture_are_refused_by_engine_and_reference) {
  const auto tensor = [](const char* name, std::vector<uint64_t> dimensions) {
    return modelfile::tensor_for_test(name, std::move(dimensions));
  };
  const std::vector<std::pair<std::string, modelfile::TensorForTest>> files{
      {"llama", tensor("blk.0.attn_qkv.weight", {8, 20000})},
      {"llama", tensor("token_embd_norm.weight", {100000})},
      {"llama", tensor("token_embd_norm.weight", {1})},
      {"llama", tensor("position_embd.weight", {8, 1})},
      {"llama", tensor("token_types.weight", {1})},
      {"llama", tensor("token_embd.bias", {1})},
      {"llama", tensor("blk.0.attn_k_norm.weight", {4})},
      {"gpt2", tensor("blk.1.ffn_gate.weight", {8, 50000})},
      {"gpt2", tensor("token_embd.bias", {2})},
      {"gpt2", tensor("output_norm.bias", {4})},
      {"bert", tensor("blk.0.ffn_gate.weight", {8, 50000})},
      {"bert", tensor("token_types.weight", {8})},
      {"bert", tensor("position_embd.weight", {8, 3})}};
  for (const auto& [architecture, other] : files) {
    const auto path = small_model(architecture, {other});
    const auto engine = Engine::load(path, {.threads = 1});
    ASSERT_FALSE(engine) << other.name;
    EXPECT_THAT(engine.error().message(), HasSubstr(other.name));
    const auto file = gguf::GgufFile::open(path);
    EXPECT_FALSE(ReferenceModel::load(file->contents(), {})) << other.name;
  }
}

}  // namespace
}  // namespace trilobite::model
