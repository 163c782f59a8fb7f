#include "quant/i2s.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "quant/byte_order.hpp"
#include "quant/matrices_for_test.hpp"

namespace trilobite::quant {
namespace {

using testing::HasSubstr;

/// All weights 0 (code 1, bytes 0x55) but one, which is 1 (code 2).
std::vector<uint8_t> packed_with_one(I2sLayout layout, size_t row, size_t col) {
  TernaryMatrix ternary{.rows = 4, .cols = 256, .codes = std::vector<int8_t>(1024), .scales = {1}};
  ternary.codes[row * 256 + col] = 1;
  return pack_i2s(ternary, layout);
}

struct Place {
  I2sLayout layout;
  size_t row, col, byte;
  uint8_t value;
};

TEST(I2s, a_single_row_is_that_of_the_whole) {
  Rng rng(3);
  TernaryMatrix ternary{.rows = 8, .cols = 256, .codes = {}, .scales = {0.5f}};
  for (size_t i = 0; i < 8 * 256; ++i)
    ternary.codes.push_back(static_cast<int8_t>(static_cast<int>(rng.below(3)) - 1));
  for (const auto layout : kI2sLayouts) {
    const auto bytes = pack_i2s(ternary, layout);
    for (size_t row = 0; row < 8; ++row) {
      std::vector<float> codes(256);
      unpack_i2s_row(layout, {.rows = 8, .cols = 256, .bytes = bytes}, row, codes);
      for (size_t c = 0; c < 256; ++c)
        ASSERT_EQ(codes[c], static_cast<float>(ternary.codes[row * 256 + c])) << name_of(layout);
    }
  }
}

TEST(I2s, each_layout_puts_a_weight_where_the_document_says) {
  // A pair of bits goes from 01 to 10; the first of a byte is its highest.
  const Place places[] = {
      {I2sLayout::x86_block128, 0, 0, 0, 0b10'01'01'01},
      {I2sLayout::x86_block128, 0, 33, 1, 0b01'10'01'01},
      {I2sLayout::x86_block128, 0, 127, 31, 0b01'01'01'10},
      {I2sLayout::x86_block128, 1, 128 + 64, 64 + 32, 0b01'01'10'01},
      {I2sLayout::arm_block64, 0, 16, 0, 0b01'10'01'01},
      {I2sLayout::arm_block64, 0, 63, 15, 0b01'01'01'10},
      {I2sLayout::arm_block64, 2, 64 + 32, 128 + 16, 0b01'01'10'01},
      {I2sLayout::x86_four_rows, 0, 200, 200, 0b10'01'01'01},
      {I2sLayout::x86_four_rows, 1, 200, 200, 0b01'10'01'01},
      {I2sLayout::x86_four_rows, 3, 255, 255, 0b01'01'01'10},
  };
  for (const auto& place : places) {
    const auto packed = packed_with_one(place.layout, place.row, place.col);
    ASSERT_EQ(packed.size(), 256u + 32u);
    for (size_t i = 0; i < 256; ++i) {
      EXPECT_EQ(packed[i], i == place.byte ? place.value : 0b01'01'01'01)
          << name_of(place.layout) << " row " << place.row << " column " << place.col;
    }
    EXPECT_EQ(load_bytes<float>(packed.data() + 256), 1.0f);
  }
}

TEST(I2s, what_was_packed_is_unpacked) {
  const auto weights = fixtures::ternary(8, 384);
  const auto ternary = quantize_by_sign(weights.view());
  for (const auto layout : kI2sLayouts) {
    const auto bytes = pack_i2s(ternary, layout);
    const auto back = unpack_i2s(layout, {.rows = 8, .cols = 384, .bytes = bytes}).value();
    EXPECT_EQ(back.codes, ternary.codes) << name_of(layout);
    EXPECT_EQ(dequantize_ternary(back), weights.values) << name_of(layout);
  }
}

TEST(I2s, the_writers_rule_is_the_sign_and_the_largest_magnitude) {
  const fixtures::Weights weights{1, 5, {0.25f, -3e-6f, 0.9e-6f, -0.5f, 0}};
  const auto ternary = quantize_by_sign(weights.view());
  EXPECT_THAT(ternary.codes, testing::ElementsAre(1, -1, 0, -1, 0));
  EXPECT_EQ(ternary.scales[0], 0.5f);
}

TEST(I2s, shapes_that_do_not_fit_name_the_block) {
  EXPECT_THAT(check_i2s_shape(I2sLayout::x86_block128, 4, 64).error().message(),
              HasSubstr("multiple of 128 columns"));
  EXPECT_THAT(check_i2s_shape(I2sLayout::arm_block64, 4, 96).error().message(),
              HasSubstr("multiple of 64 columns"));
  EXPECT_THAT(check_i2s_shape(I2sLayout::x86_four_rows, 6, 128).error().message(),
              HasSubstr("multiple of 4 rows"));
  EXPECT_TRUE(check_i2s_shape(I2sLayout::x86_four_rows, 8, 5));
}

TEST(I2s, damaged_tensors_are_errors) {
  const auto good = packed_with_one(I2sLayout::x86_block128, 0, 0);
  const auto unpack = [](const std::vector<uint8_t>& bytes) {
    return unpack_i2s(I2sLayout::x86_block128, {.rows = 4, .cols = 256, .bytes = bytes});
  };
  ASSERT_TRUE(unpack(good));
  auto bytes = good;
  bytes.pop_back();
  EXPECT_THAT(unpack(bytes).error().message(), HasSubstr("takes 288 bytes, there are 287"));
  bytes = good;
  bytes[64] = 0b01'01'11'01;
  EXPECT_THAT(unpack(bytes).error().message(), HasSubstr("code 3 at row 1, column 64"));
  for (const float scale :
       {-1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    bytes = good;
    store_bytes(bytes.data() + 256, scale);
    EXPECT_THAT(unpack(bytes).error().message(), HasSubstr("I2_S scale is")) << scale;
  }
  bytes = good;
  store_bytes(bytes.data() + 256, 0.0f);  // of a matrix of zeros
  EXPECT_TRUE(unpack(bytes));
}

}  // namespace
}  // namespace trilobite::quant
