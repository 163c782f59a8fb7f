// The installed engine: text in, text out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"
#include "base/thread_pool.hpp"
#include "fixtures/make_fixture.hpp"
#include "trilobite/engine.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;

class TextEngine : public testing::Test {
 protected:
  Engine load(const LoadOptions& options = {.threads = 1}) {
    ThreadPool pool(1);
    const auto made =
        fixtures::make_fixture({.architecture = "llama", .size = "tiny"}, folder_.path(), pool);
    EXPECT_TRUE(made) << made.error().message();
    auto engine = Engine::load(made->path, options);
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
