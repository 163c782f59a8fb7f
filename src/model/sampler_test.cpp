#include "model/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace trilobite::model {
namespace {

std::map<int32_t, double> frequencies(SamplerOptions options, std::span<const float> logits,
                                      std::span<const int32_t> history = {}) {
  Sampler sampler(options, logits.size());
  std::map<int32_t, double> counts;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) counts[sampler.next(logits, history).value()] += 1.0 / kDraws;
  return counts;
}

const std::vector<float> kLogits{1.0f, 3.0f, 2.0f, -1.0f};

TEST(Sampler, temperature_zero_is_greedy_and_the_first_of_equals_wins) {
  Sampler sampler({}, 4);
  EXPECT_EQ(sampler.next(kLogits, {}), 1);
  EXPECT_EQ(sampler.next(std::vector<float>{2, 5, 5, 1}, {}), 1);
}

TEST(Sampler, draws_follow_the_tempered_distribution) {
  const auto seen = frequencies({.temperature = 2.0f}, kLogits);
  double sum = 0;
  for (const float logit : kLogits) sum += std::exp(static_cast<double>(logit) / 2);
  for (int32_t token = 0; token < 4; ++token) {
    const double p = std::exp(static_cast<double>(kLogits[static_cast<size_t>(token)]) / 2) / sum;
    EXPECT_NEAR(seen.at(token), p, 4 * std::sqrt(p * (1 - p) / 20000));
  }
}

TEST(Sampler, top_k_top_p_and_min_p_leave_the_likeliest) {
  using testing::UnorderedElementsAre;
  const auto tokens = [](const std::map<int32_t, double>& seen) {
    std::vector<int32_t> all;
    for (const auto& [token, share] : seen) all.push_back(token);
    return all;
  };
  // Probabilities at temperature 1: token 1 0.657, token 2 0.242, token 0 0.089, token 3 0.012.
  EXPECT_THAT(tokens(frequencies({.temperature = 1, .top_k = 2}, kLogits)),
              UnorderedElementsAre(1, 2));
  EXPECT_THAT(tokens(frequencies({.temperature = 1, .top_p = 0.6f}, kLogits)),
              UnorderedElementsAre(1));
  EXPECT_THAT(tokens(frequencies({.temperature = 1, .top_p = 0.7f}, kLogits)),
              UnorderedElementsAre(1, 2));
  EXPECT_THAT(tokens(frequencies({.temperature = 1, .min_p = 0.1f}, kLogits)),
              UnorderedElementsAre(0, 1, 2));
}

TEST(Sampler, the_same_seed_gives_the_same_tokens_and_another_one_others) {
  const auto draw = [](uint64_t seed) {
    Sampler sampler({.temperature = 1, .seed = seed}, 4);
    std::vector<int32_t> tokens;
    for (int i = 0; i < 50; ++i) tokens.push_back(sampler.next(kLogits, {}).value());
    return tokens;
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
}

TEST(Sampler, repetition_makes_a_token_less_likely_whatever_its_sign) {
  const std::vector<int32_t> history{9, 1, 1, 3};  // 9 is no token here
  Sampler sampler({.repetition_penalty = 2.0f}, 4);
  EXPECT_EQ(sampler.next(kLogits, history), 2);  // 3.0 became 1.5
  const std::vector<float> negative{-1.0f, -0.6f};
  const std::vector<int32_t> said{1};
  EXPECT_EQ(Sampler({.repetition_penalty = 2.0f}, 2).next(negative, said), 0);
  // Out of the window it does not count.
  Sampler forgetful({.repetition_penalty = 2.0f, .repetition_window = 1}, 4);
  EXPECT_EQ(forgetful.next(kLogits, history), 1);
}

TEST(Sampler, a_logit_that_is_no_number_is_an_error) {
  const std::vector<float> broken{1.0f, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_FALSE(Sampler({}, 2).next(broken, {}));
  EXPECT_FALSE(Sampler({.temperature = 1}, 2).next(broken, {}));
}

TEST(Sampler, logits_without_a_finite_largest_one_are_an_error) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const auto& broken :
       {std::vector<float>{1.0f, kInfinity, 2.0f}, std::vector<float>{-kInfinity, -kInfinity}}) {
    EXPECT_FALSE(Sampler({}, 3).next(broken, {}));
    EXPECT_FALSE(Sampler({.temperature = 1}, 3).next(broken, {}));
    EXPECT_FALSE(
        Sampler({.temperature = 1, .top_k = 1, .min_p = 0.5f}, 3).next(broken, std::vector{0}));
  }
}

TEST(Sampler, logits_that_a_penalty_would_make_infinite_are_still_drawn_from) {
  const std::vector<float> logits{-3e38f, -3e38f, -3e38f};
  const std::vector<int32_t> history{0, 1, 2};
  const auto token =
      Sampler({.temperature = 1, .repetition_penalty = 100}, 3).next(logits, history);
  ASSERT_TRUE(token);
  EXPECT_LT(*token, 3);
}

TEST(Sampler, infinitely_unlikely_tokens_are_never_drawn) {
  const float never = -std::numeric_limits<float>::infinity();
  const std::vector<float> logits{never, 0.0f, never};
  EXPECT_EQ(frequencies({.temperature = 1}, logits).size(), 1U);
}

TEST(Sampler, impossible_options_are_refused_by_name) {
  EXPECT_NE(check({.temperature = -1}).error().message().find("temperature"), std::string::npos);
  EXPECT_NE(check({.top_p = 0}).error().message().find("top-p"), std::string::npos);
  EXPECT_NE(check({.min_p = 2}).error().message().find("min-p"), std::string::npos);
  EXPECT_NE(check({.repetition_penalty = 0}).error().message().find("penalty"), std::string::npos);
  EXPECT_FALSE(check({.temperature = std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_TRUE(check({}));
}

}  // namespace
}  // namespace trilobite::model
