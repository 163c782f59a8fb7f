// Damaged model files: an error or a model, never a crash.

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "base/temporary_folder_for_test.hpp"
#include "fixtures/make_fixture.hpp"
#include "model/engine.hpp"
#include "model/reference_model.hpp"

namespace trilobite::model {
namespace {

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

}  // namespace
}  // namespace trilobite::model
