// Logits, embeddings and greedy continuations of tiny models as other engines and an independent
// float64 forward pass computed them. The data is not part of the project; without it these tests
// are skipped. The tolerances are those that come with the data.

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.hpp"
#include "base/test_data_for_test.hpp"
#include "model/engine.hpp"
#include "model/reference_model.hpp"

namespace trilobite::model {
namespace {

constexpr const char* kIndex = "golden/index.json";

/// Every model of the golden data; nothing where it is absent.
std::vector<std::string> golden_models() {
  std::vector<std::string> names;
  const auto text = read_file(test_data_folder() / kIndex);
  if (!text) return names;
  const Json index = parse_json(*text).value();
  for (const auto& row : index) {
    const Path file = row.at("file").get<std::string>();
    names.push_back(file.stem().string());
  }
  return names;
}

struct Difference {
  double max_abs = 0;
  double rel_l2 = 0;
};

Difference difference(std::span<const float> a, std::span<const float> b) {
  Difference d;
  double squares = 0;
  double norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double gap = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    d.max_abs = std::max(d.max_abs, gap);
    squares += gap * gap;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  d.rel_l2 = std::sqrt(squares / norm);
  return d;
}

class GoldenModel : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    TRILOBITE_NEED_TEST_DATA(kIndex);
    folder_ = test_data_folder() / "golden";
    manifest_ = parse_json(read_file(folder_ / "golden" / (GetParam() + ".json")).value()).value();
    ref64_ = read_floats(folder_ / "golden" / (GetParam() + ".ref64.bin"));
  }
  Path model() const { return folder_ / "models" / (GetParam() + ".gguf"); }
  bool is_type(std::string_view type) const { return GetParam().ends_with(type); }
  /// Weights that the CPU kernels multiply with as they are, in f32.
  bool is_dense() const { return is_type(".F32") || is_type(".F16") || is_type(".BF16"); }
  bool is_refused() const { return is_type("IQ1_BN") || is_type("IQ2_BN"); }
  bool is_bert() const { return GetParam().starts_with("bert"); }

  static std::vector<int32_t> ids(const Json& sequence) {
    return sequence.at("tokens").get<std::vector<int32_t>>();
  }
  std::span<const float> expected(const Json& sequence) const {
    const auto shape = sequence.at("shape").get<std::vector<size_t>>();
    return std::span(ref64_).subspan(sequence.at("offset_bytes_ref64").get<size_t>() / 4,
                                     shape[0] * shape[1]);
  }
  Engine load(unsigned threads) const {
    auto engine = Engine::load(model(), {.threads = threads, .kv_type = kernels::KvType::f32});
    EXPECT_TRUE(engine) << engine.error().message();
    return *std::move(engine);
  }
  /// What the engine gives for a sequence: logits at its positions, or embeddings.
  static std::vector<float> computed(Engine& engine, const Json& sequence) {
    const auto tokens = ids(sequence);
    if (sequence.at("kind") == "embedding") {
      const auto pooling = parse_pooling(sequence.at("pooling").get<std::string>()).value();
      return engine.embed({&tokens, 1}, pooling).value();
    }
    const auto positions = sequence.at("positions").get<std::vector<size_t>>();
    std::vector<float> logits;
    engine.truncate(0);
    const auto done = engine.feed_each({0, tokens}, [&](size_t i, std::span<const float> row) {
      if (std::ranges::find(positions, i) != positions.end())
        logits.insert(logits.end(), row.begin(), row.end());
    });
    EXPECT_TRUE(done) << done.error().message();
    return logits;
  }

  Path folder_;
  Json manifest_;
  std::vector<float> ref64_;
};

TEST_P(GoldenModel, the_reference_agrees_with_float64) {
  if (is_refused()) return;
  const auto file = gguf::GgufFile::open(model());
  const auto reference = ReferenceModel::load(file->contents(), {});
  ASSERT_TRUE(reference) << reference.error().message();
  for (const auto& sequence : manifest_.at("sequences")) {
    if (sequence.contains("pooling") && sequence.at("pooling") != "none") continue;
    const auto tokens = ids(sequence);
    const auto hidden = reference->hidden(tokens);
    std::vector<float> got(hidden.begin(), hidden.end());
    if (!is_bert()) {
      got.clear();
      for (const auto& position : sequence.at("positions")) {
        const auto row = reference->logits(hidden, position.get<size_t>());
        got.insert(got.end(), row.begin(), row.end());
      }
    }
    ASSERT_EQ(got.size(), expected(sequence).size());
    const auto d = difference(got, expected(sequence));
    EXPECT_LE(d.max_abs, 1e-4) << sequence.at("name");
    EXPECT_LE(d.rel_l2, 6e-6) << sequence.at("name");
  }
}

TEST_P(GoldenModel, the_cpu_agrees_within_the_rounding_of_its_activations) {
  if (is_refused()) {
    const auto refused = Engine::load(model());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("IQ"), std::string::npos);
    return;
  }
  auto engine = load(2);
  for (const auto& sequence : manifest_.at("sequences")) {
    const auto d = difference(computed(engine, sequence), expected(sequence));
    if (is_dense()) {
      EXPECT_LE(d.max_abs, 1e-4) << sequence.at("name");
      EXPECT_LE(d.rel_l2, 6e-6) << sequence.at("name");
    } else {
      EXPECT_LE(d.max_abs, 1.0) << sequence.at("name");
      EXPECT_LE(d.rel_l2, 0.06) << sequence.at("name");
    }
  }
}

TEST_P(GoldenModel, int8_activations_lose_no_more_than_the_original_engine_did) {
  if (is_dense() || is_refused()) return;
  auto engine = load(2);
  std::vector<float> got;
  std::vector<float> wanted;
  for (const auto& sequence : manifest_.at("sequences")) {
    const auto part = computed(engine, sequence);
    const auto reference = expected(sequence);
    got.insert(got.end(), part.begin(), part.end());
    wanted.insert(wanted.end(), reference.begin(), reference.end());
  }
  const double native = manifest_.at("measured").at("native_vs_ref64").at("rel_l2").get<double>();
  EXPECT_LE(difference(got, wanted).rel_l2, 1.5 * native);
}

TEST_P(GoldenModel, threads_change_nothing) {
  if (is_refused()) return;
  auto one = load(1);
  auto three = load(3);
  for (const auto& sequence : manifest_.at("sequences"))
    EXPECT_EQ(computed(one, sequence), computed(three, sequence)) << sequence.at("name");
}

TEST_P(GoldenModel, the_greedy_continuation_is_the_same_until_a_close_call) {
  if (is_refused() || is_bert()) return;
  auto engine = load(2);
  // The F32 twin's continuation is what f32 arithmetic gives; files that are all F32 have no twin.
  const bool has_twin = manifest_.contains("twin_greedy");
  const double tolerance = is_dense() ? 1.2e-2 : 1.0;
  for (size_t s = 0; s < manifest_.at("sequences").size(); ++s) {
    const auto& sequence = manifest_.at("sequences")[s];
    if (!sequence.contains("greedy") || ids(sequence).empty()) continue;
    const Json* source = &sequence;
    for (size_t t = 0; has_twin && t < manifest_.at("twin_greedy").size(); ++t) {
      if (manifest_.at("twin_greedy")[t].at("name") == sequence.at("name"))
        source = &manifest_.at("twin_greedy")[t];
    }
    const auto wanted = source->at("greedy").get<std::vector<int32_t>>();
    const auto margins = source->at("greedy_top2_margin").get<std::vector<double>>();
    const auto tokens = ids(sequence);
    const auto got = engine.generate(tokens, {.tokens = wanted.size(), .ignore_end = true});
    ASSERT_TRUE(got) << got.error().message();
    for (size_t i = 0; i < got->tokens.size(); ++i) {
      if (got->tokens[i] == wanted[i]) continue;
      EXPECT_LE(margins[i], 2 * tolerance)
          << sequence.at("name") << ": token " << i << " differs though the margin is large";
      break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenModel, testing::ValuesIn(golden_models()),
                         [](const auto& test) {
                           auto name = test.param;
                           for (auto& letter : name) {
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0)
                               letter = '_';
                           }
                           return name;
                         });
// Where the data is absent there is nothing to instantiate; this test says so.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenModel);
TEST(GoldenModels, are_there) { TRILOBITE_NEED_TEST_DATA(kIndex); }

}  // namespace
}  // namespace trilobite::model
