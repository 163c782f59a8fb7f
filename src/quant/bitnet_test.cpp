#include "quant/bitnet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "quant/matrices_for_test.hpp"
#include "quant/rounding.hpp"

namespace trilobite::quant {
namespace {

using fixtures::Weights;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Rounding, half_goes_to_the_even_neighbour) {
  const float halves[] = {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 126.5f};
  for (const float half : halves) EXPECT_EQ(round_half_even(half), std::nearbyint(half)) << half;
  EXPECT_EQ(round_half_even(0.5f), 0);
  EXPECT_EQ(round_half_even(1.5f), 2);
}

TEST(Rounding, both_equal_the_library_on_many_values) {
  for (int i = -40'000; i <= 40'000; ++i) {
    const float value = static_cast<float>(i) * 0.0625f;
    for (const float x : {value, std::nextafter(value, 1e9f), std::nextafter(value, -1e9f)}) {
      ASSERT_EQ(round_half_even(x), std::nearbyint(x)) << x;
      ASSERT_EQ(static_cast<float>(round_half_away(x)), std::round(x)) << x;
    }
  }
}

TEST(Rounding, clipping_takes_infinities) {
  EXPECT_EQ(round_clipped(std::numeric_limits<float>::infinity(), -7, 7), 7);
  EXPECT_EQ(round_clipped(-1e30f, -7, 7), -7);
}

TEST(Rounding, a_quotient_is_finite_or_zero) {
  EXPECT_EQ(finite_quotient(1, 4), 0.25f);
  EXPECT_EQ(finite_quotient(1, 0x1.000008p-128f), 0x1.FFFFF0p127f);
  for (const float divisor : {0x1p-128f, -1e-40f, 0.0f, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(finite_quotient(1, divisor), 0) << divisor;
  }
}

TEST(Absmean, a_matrix_worked_by_hand) {
  // gamma = 12 / 6 = 2: beyond 1 in magnitude is +-1.
  const Weights weights{2, 3, {3, -0.5f, -4, 0.5f, 2, -2}};
  const auto ternary = quantize_absmean(weights.view());
  EXPECT_THAT(ternary.codes, ElementsAre(1, 0, -1, 0, 1, -1));
  EXPECT_THAT(ternary.scales, ElementsAre(2.0f));
  EXPECT_THAT(dequantize_ternary(ternary), ElementsAre(2, 0, -2, 0, 2, -2));
}

TEST(Absmean, each_row_has_its_own_scale_when_asked) {
  const Weights weights{2, 2, {1, 3, 10, -30}};
  const auto ternary = quantize_absmean(weights.view(), {.per_channel = true});
  EXPECT_THAT(ternary.scales, ElementsAre(2.0f, 20.0f));
  EXPECT_THAT(ternary.codes, ElementsAre(0, 1, 0, -1));
  EXPECT_THAT(dequantize_ternary(ternary), ElementsAre(0, 2, 0, -20));
}

TEST(Absmean, a_weight_of_exactly_half_the_divisor_rounds_to_zero) {
  // gamma = 2, so without epsilon the weights 1 and -1 are the ties 0.5 and -0.5.
  const Weights weights{1, 4, {1, -1, 3, -3}};
  const auto ternary = quantize_absmean(weights.view(), {.epsilon = 0});
  EXPECT_THAT(ternary.codes, ElementsAre(0, 0, 1, -1));
  const Weights above{1, 4, {std::nextafter(1.0f, 2.0f), -1, 3, -3}};
  EXPECT_EQ(quantize_absmean(above.view(), {.epsilon = 0}).codes[0], 1);
}

TEST(Absmean, epsilon_is_added_as_in_the_paper_or_a_floor_as_in_the_training_code) {
  // gamma = 4e-5: 2.2e-5 is above half of 4e-5 but below half of 5e-5.
  const Weights weights{1, 2, {2.2e-5f, 5.8e-5f}};
  EXPECT_THAT(quantize_absmean(weights.view()).codes, ElementsAre(0, 1));
  const AbsmeanOptions floor{.rule = EpsilonRule::floor};
  EXPECT_THAT(quantize_absmean(weights.view(), floor).codes, ElementsAre(1, 1));
  EXPECT_NEAR(quantize_absmean(weights.view()).scales[0], 4e-5f, 1e-11f);  // epsilon is not in it
}

TEST(Absmean, zeros_stay_zeros_with_scale_zero) {
  const Weights weights{1, 3, {0, 0, 0}};
  for (const float epsilon : {kBitnetEpsilon, 0.0f}) {
    const auto ternary = quantize_absmean(weights.view(), {.epsilon = epsilon});
    EXPECT_THAT(ternary.codes, ElementsAre(0, 0, 0));
    EXPECT_EQ(ternary.scales[0], 0);
  }
}

TEST(Absmean, the_mean_is_summed_in_double) {
  // In f32, 2^24 + 1 + 1 + ... would stay at 2^24.
  std::vector<float> values(1 << 16, 1.0f);
  values[0] = 0x1p24f;
  EXPECT_EQ(mean_magnitude(values), static_cast<float>((0x1p24 + 65535.0) / 65536.0));
}

TEST(Absmax, a_token_worked_by_hand) {
  // s = 127 / 254 = 0.5: 5 and -3 are ties (2.5, -1.5), 254 becomes 127.
  const Weights tokens{1, 4, {254, 5, -3, 0}};
  const auto activations = quantize_absmax(tokens.view()).value();
  EXPECT_THAT(activations.codes, ElementsAre(127, 2, -2, 0));
  EXPECT_THAT(activations.scales, ElementsAre(2.0f));
  EXPECT_THAT(activations.sums, ElementsAre(127));
}

TEST(Absmax, each_token_has_its_own_scale_and_sum) {
  const Weights tokens{2, 2, {127, -127, 1, 1}};
  const auto activations = quantize_absmax(tokens.view()).value();
  EXPECT_THAT(activations.codes, ElementsAre(127, -127, 127, 127));
  EXPECT_THAT(activations.sums, ElementsAre(0, 254));
  EXPECT_EQ(activations.scales[0], 1.0f);
  EXPECT_EQ(activations.scales[1], 1.0f / 127);
}

TEST(Absmax, small_tokens_are_held_against_epsilon) {
  const Weights tokens{2, 2, {0, 0, 5e-6f, -5e-6f}};
  const auto activations = quantize_absmax(tokens.view()).value();
  EXPECT_THAT(activations.codes, ElementsAre(0, 0, 64, -64));  // 5e-6 * 127 / 1e-5 = 63.5
  EXPECT_EQ(activations.scales[0], kBitnetEpsilon / 127.0f);
  const Weights tiny{1, 2, {0, 1e-44f}};
  EXPECT_THAT(quantize_absmax(tiny.view(), 0).value().codes, ElementsAre(0, 0));
}

TEST(Absmax, codes_reach_127_and_never_less_than_minus_127) {
  const auto tokens = fixtures::gaussian(64, 333, 3.0f);
  const auto activations = quantize_absmax(tokens.view()).value();
  for (size_t t = 0; t < 64; ++t) {
    const auto codes = std::span(activations.codes).subspan(t * 333, 333);
    const auto [low, high] = std::ranges::minmax(codes);
    EXPECT_EQ(std::max<int>(-low, high), 127);
    for (size_t i = 0; i < 333; ++i) {
      EXPECT_NEAR(static_cast<float>(codes[i]) * activations.scales[t], tokens.view().row(t)[i],
                  0.501f * activations.scales[t]);
    }
  }
}

TEST(Absmax, values_that_are_not_finite_are_named) {
  Weights tokens{2, 2, {1, 2, 3, std::numeric_limits<float>::quiet_NaN()}};
  EXPECT_THAT(quantize_absmax(tokens.view()).error().message(),
              HasSubstr("activation 1 of token 1 is nan"));
  tokens.values[3] = -std::numeric_limits<float>::infinity();
  EXPECT_FALSE(quantize_absmax(tokens.view()));
}

}  // namespace
}  // namespace trilobite::quant
