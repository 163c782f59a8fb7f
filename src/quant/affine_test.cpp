#include "quant/affine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "quant/matrices_for_test.hpp"

namespace trilobite::quant {
namespace {

using fixtures::Weights;
using testing::ElementsAre;

QuantizedMatrix pack(const AffineRule& rule, const Weights& weights) {
  const auto size = affine_size(rule, weights.rows, weights.cols);
  QuantizedMatrix packed{.rows = weights.rows, .cols = weights.cols};
  packed.bytes.resize(size.bytes);
  packed.scales.resize(size.scales);
  packed.zero_points.resize(size.zero_points);
  quantize_affine(rule, weights.view(), packed);
  return packed;
}

std::vector<float> restore(const AffineRule& rule, const QuantizedMatrix& packed) {
  std::vector<float> values(packed.rows * packed.cols);
  EXPECT_TRUE(dequantize_affine(rule, packed.view(), values));
  return values;
}

TEST(Affine, symmetric_int8_worked_by_hand) {
  const Weights weights{1, 4, {254, -254, 5, -3}};  // scale 2; 2.5 and -1.5 are ties
  const auto packed = pack({}, weights);
  EXPECT_THAT(packed.bytes, ElementsAre(127, 256 - 127, 2, 256 - 2));
  EXPECT_THAT(packed.scales, ElementsAre(2.0f));
  EXPECT_THAT(restore({}, packed), ElementsAre(254, -254, 4, -4));
}

TEST(Affine, symmetric_int4_puts_the_even_column_low_and_adds_eight) {
  const AffineRule rule{.bits = 4};
  const Weights weights{1, 3, {7, -7, 1}};
  const auto packed = pack(rule, weights);
  EXPECT_THAT(packed.bytes, ElementsAre(0x1F, 0x09));
  EXPECT_THAT(restore(rule, packed), ElementsAre(7, -7, 1));
}

TEST(Affine, asymmetric_int8_uses_the_whole_range_and_keeps_zero_exact) {
  const AffineRule rule{.symmetric = false};
  const Weights weights{1, 4, {-55, 0, 200, 1.4f}};  // range 255: scale 1, zero 55
  const auto packed = pack(rule, weights);
  EXPECT_THAT(packed.bytes, ElementsAre(0, 55, 255, 56));
  EXPECT_THAT(packed.zero_points, ElementsAre(55));
  EXPECT_THAT(restore(rule, packed), ElementsAre(-55, 0, 200, 1));
}

TEST(Affine, asymmetric_weights_of_one_sign_still_have_zero_in_their_range) {
  const AffineRule rule{.bits = 4, .symmetric = false};
  const Weights positive{1, 2, {30, 15}};
  const auto packed = pack(rule, positive);
  EXPECT_THAT(packed.zero_points, ElementsAre(0));
  EXPECT_THAT(packed.bytes, ElementsAre(0x8F));  // 7.5 is a tie, to even 8
  const Weights negative{1, 2, {-15, 0}};
  EXPECT_THAT(pack(rule, negative).zero_points, ElementsAre(15));
}

TEST(Affine, the_last_group_of_a_row_may_be_short) {
  const AffineRule rule{.span = AffineSpan::group, .group_size = 2};
  const Weights weights{2, 3, {127, 0, 254, 381, 0, 508}};
  const auto packed = pack(rule, weights);
  EXPECT_THAT(packed.scales, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(restore(rule, packed), ElementsAre(127, 0, 254, 381, 0, 508));
}

TEST(Affine, the_error_is_at_most_half_a_step_for_every_rule_and_width) {
  for (const unsigned bits : {8u, 4u}) {
    for (const bool symmetric : {true, false}) {
      for (const size_t group : {0u, 1u, 7u, 32u, 1000u}) {
        const AffineRule rule{.bits = bits,
                              .symmetric = symmetric,
                              .span = group == 0 ? AffineSpan::channel : AffineSpan::group,
                              .group_size = group};
        const auto weights = fixtures::gaussian(5, 99);
        const auto packed = pack(rule, weights);
        const auto back = restore(rule, packed);
        const size_t width = group == 0 ? 99 : std::min<size_t>(group, 99);
        const size_t groups = (99 + width - 1) / width;
        for (size_t i = 0; i < back.size(); ++i) {
          const float step = packed.scales[i / 99 * groups + i % 99 / width];
          // Both ends of an asymmetric range may be off by the rounding of the zero point.
          const float bound = (symmetric ? 0.5001f : 1.0001f) * step;
          ASSERT_LE(std::abs(back[i] - weights.values[i]), bound) << bits << symmetric << group;
        }
      }
    }
  }
}

TEST(Affine, zeros_and_numbers_too_small_for_a_scale_become_zero) {
  for (const bool symmetric : {true, false}) {
    const AffineRule rule{.symmetric = symmetric};
    EXPECT_THAT(restore(rule, pack(rule, Weights{1, 2, {0, 0}})), ElementsAre(0, 0));
    EXPECT_THAT(restore(rule, pack(rule, Weights{1, 2, {1e-45f, -1e-45f}})), ElementsAre(0, 0));
  }
}

TEST(Affine, a_zero_point_beyond_the_codes_is_an_error) {
  const AffineRule rule{.bits = 4, .symmetric = false};
  auto packed = pack(rule, Weights{1, 2, {-1, 1}});
  packed.zero_points[0] = 16;
  std::vector<float> values(2);
  EXPECT_EQ(dequantize_affine(rule, packed.view(), values).error().message(),
            "a zero point of 16; the codes end at 15");
}

}  // namespace
}  // namespace trilobite::quant
