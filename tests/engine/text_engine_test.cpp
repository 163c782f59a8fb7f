// The installed engine: text in, text out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"
#include "base/thread_pool.hpp"
#include "fixtures/make_fixture.hpp"
#include "trilobite/engine.hpp"

namespace trilobite {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TextEngine : public testing::Test {
 protected:
  std::filesystem::path made() {
    ThreadPool pool(1);
    const auto fixture =
        fixtures::make_fixture({.architecture = "llama", .size = "tiny"}, folder_.path(), pool);
    EXPECT_TRUE(fixture) << fixture.error().message();
    return fixture->path;
  }
  Engine load(const LoadOptions& options = {.threads = 1}) {
    auto engine = Engine::load(made(), options);
    EXPECT_TRUE(engine) << engine.error().message();
    return *std::move(engine);
  }
  TemporaryFolder folder_;
};

TEST_F(TextEngine, a_stop_text_ends_the_continuation_before_it) {
  auto engine = load();
  const auto whole = engine.generate("a", 24, {.ignore_end = true}).value();
  ASSERT_GT(whole.size(), 8U);
  const auto stop = whole.substr(whole.size() / 2, 3);
  std::string shown;
  Sampling sampling{.stop_texts = {stop}, .ignore_end = true};
  sampling.on_text = [&](std::string_view piece) {
    shown += piece;
    return true;
  };
  const auto cut = engine.generate("a", 24, sampling);
  ASSERT_TRUE(cut) << cut.error().message();
  EXPECT_EQ(*cut, whole.substr(0, whole.find(stop)));
  EXPECT_EQ(shown, *cut);
  EXPECT_THAT(engine.generate("a", 4, {.stop_texts = {""}}).error().message(), HasSubstr("empty"));
}

TEST_F(TextEngine, several_texts_are_continued_as_each_would_be_alone) {
  const std::vector<std::string> prompts{"a", "b c", "the", "a", "x y z"};
  for (const float temperature : {0.0f, 0.9f}) {
    const Sampling sampling{.temperature = temperature, .seed = 3, .ignore_end = true};
    auto alone = load();
    std::vector<std::string> expected;
    for (const auto& prompt : prompts)
      expected.push_back(alone.generate(prompt, 12, sampling).value());
    for (const size_t sequences : {1u, 2u, 3u, 8u}) {
      auto engine = load({.threads = 1, .sequences = sequences});
      EXPECT_EQ(engine.generate(prompts, 12, sampling).value(), expected) << sequences;
    }
  }
}

TEST_F(TextEngine, texts_that_end_early_make_room_for_others) {
  auto engine = load({.threads = 1, .sequences = 2});
  const auto whole = engine.generate("a", 24, {.ignore_end = true}).value();
  const Sampling sampling{.stop_texts = {whole.substr(whole.size() / 2, 3)}, .ignore_end = true};
  const std::vector<std::string> prompts{"a", "a", "a"};
  const auto texts = engine.generate(prompts, 24, sampling).value();
  EXPECT_EQ(texts, std::vector(3, whole.substr(0, whole.find(sampling.stop_texts[0]))));
  EXPECT_EQ(engine.generate(std::vector<std::string>(), 24, sampling)->size(), 0U);
  EXPECT_EQ(engine.generate(prompts, 0).value(), std::vector<std::string>(3));
}

TEST_F(TextEngine, several_texts_have_no_callback_and_must_fit) {
  auto engine = load({.threads = 1, .context = 16, .sequences = 2});
  const std::vector<std::string> prompts{"a", "b"};
  Sampling sampling;
  sampling.on_text = [](std::string_view) { return true; };
  EXPECT_THAT(engine.generate(prompts, 4, sampling).error().message(), HasSubstr("on_text"));
  const std::vector<std::string> long_ones{"a", std::string(400, 'b')};
  EXPECT_THAT(engine.generate(long_ones, 4).error().message(),
              AllOf(HasSubstr("prompt 2 of 2"), HasSubstr("context")));
  const auto full = engine.generate(prompts, 100, {.ignore_end = true});
  ASSERT_TRUE(full) << full.error().message();
  EXPECT_EQ((*full)[0], engine.generate("a", 100, {.ignore_end = true}).value());
}

TEST_F(TextEngine, impossible_numbers_of_sequences_are_refused) {
  const auto path = made();
  for (const size_t sequences : {size_t{0}, size_t{1025}, SIZE_MAX}) {
    const auto engine = Engine::load(path, {.threads = 1, .sequences = sequences});
    ASSERT_FALSE(engine);
    EXPECT_THAT(engine.error().message(), HasSubstr("sequences"));
  }
}

TEST_F(TextEngine, a_stop_token_ends_the_continuation_before_it) {
  auto engine = load();
  const auto logits = engine.logits(engine.tokenizer().encode("a")).value();
  const auto likeliest = static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
  const auto text = engine.generate("a", 8, {.stop_tokens = {likeliest}, .ignore_end = true});
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, "");
}

TEST_F(TextEngine, keys_and_values_have_the_type_asked_for) {
  std::vector<std::vector<float>> logits;
  for (const auto kv : {KvPrecision::f32, KvPrecision::int8}) {
    auto engine = load({.threads = 1, .kv = kv});
    logits.push_back(engine.logits(engine.tokenizer().encode("a few words of text")).value());
  }
  EXPECT_NE(logits[0], logits[1]);
}

}  // namespace
}  // namespace trilobite
