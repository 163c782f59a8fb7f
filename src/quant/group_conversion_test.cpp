#include "quant/group_conversion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "quant/error_measures.hpp"
#include "quant/matrices_for_test.hpp"

namespace trilobite::quant {
namespace {

std::vector<float> values_of(const GroupTiles& tiles) {
  std::vector<float> values;
  for (size_t row = 0; row < tiles.rows(); ++row) {
    for (size_t c = 0; c < tiles.columns(); ++c) {
      const auto group = tiles.group_at(row, c / kGroupColumns);
      values.push_back(static_cast<float>(group.codes[c % kGroupColumns]) * group.scale.to_float());
    }
  }
  return values;
}

double snr_db(GroupBits bits, const fixtures::Weights& weights) {
  return measure_error(weights.values, values_of(quantize_groups(weights.view(), bits).value()))
      .snr_db;
}

// The extreme of 32 normal values is about 2.3 sigma, its square 5.7 sigma^2 on average. Errors
// spread evenly over steps of extreme / half leave 20 log10(half) + 10 log10(12 / 5.7) dB.
TEST(QuantizeGroups, loses_what_its_bits_must_lose) {
  const auto weights = fixtures::gaussian(64, 640);
  EXPECT_NEAR(snr_db(GroupBits::four, weights), 21.3, 0.2);
  EXPECT_NEAR(snr_db(GroupBits::six, weights), 33.3, 0.2);
  EXPECT_NEAR(snr_db(GroupBits::eight, weights), 45.4, 0.2);
}

TEST(QuantizeGroups, worked_by_hand) {
  std::vector<float> weights(33);
  weights[0] = 4.0f;    // extreme: code -8, scale -0.5
  weights[1] = -4.0f;   // would be 8: clipped to 7
  weights[2] = 0.25f;   // -0.5: to even
  weights[3] = -0.75f;  // 1.5: to even
  weights[32] = -8.0f;  // a group of its own
  const auto tiles =
      quantize_groups(MatrixView::from(weights, 1, 33).value(), GroupBits::four).value();
  const auto first = tiles.group_at(0, 0);
  EXPECT_EQ(first.scale.to_float(), -0.5f);
  EXPECT_EQ(first.codes[0], -8);
  EXPECT_EQ(first.codes[1], 7);
  EXPECT_EQ(first.codes[2], 0);
  EXPECT_EQ(first.codes[3], 2);
  const auto second = tiles.group_at(0, 1);
  EXPECT_EQ(second.scale.to_float(), 1.0f);
  EXPECT_EQ(second.codes[0], -8);
  for (size_t c = 1; c < kGroupColumns; ++c) EXPECT_EQ(second.codes[c], 0);
}

TEST(QuantizeGroups, takes_zeros_and_weights_too_small_for_a_scale) {
  for (const float small : {0.0f, -0.0f, 1e-12f, std::numeric_limits<float>::denorm_min()}) {
    const std::vector<float> weights(40, small);
    const auto tiles =
        quantize_groups(MatrixView::from(weights, 1, 40).value(), GroupBits::six).value();
    for (const float value : values_of(tiles)) EXPECT_EQ(value, 0.0f);
  }
}

TEST(QuantizeGroups, refuses_weights_without_a_scale) {
  const auto message = [](float bad) {
    std::vector<float> weights(80, 1.0f);
    weights[40 + 35] = bad;
    const auto tiles = quantize_groups(MatrixView::from(weights, 2, 40).value(), GroupBits::eight);
    return tiles ? "" : tiles.error().message();
  };
  EXPECT_EQ(message(128 * 65504.0f), "");
  EXPECT_EQ(message(-1e7f),
            "row 1, columns from 32: no 8-bit group has a scale for the weight -10000000");
  EXPECT_EQ(message(std::numeric_limits<float>::infinity()),
            "row 1, columns from 32: no 8-bit group has a scale for the weight inf");
  EXPECT_EQ(message(std::numeric_limits<float>::quiet_NaN()),
            "row 1, columns from 32: no 8-bit group has a scale for the weight nan");
}

}  // namespace
}  // namespace trilobite::quant
