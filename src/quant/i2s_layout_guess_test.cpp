#include "quant/i2s_layout_guess.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "quant/byte_order.hpp"

namespace trilobite::quant {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

/// How much the share of zeros (a third on average) varies, as a standard deviation.
struct Structure {
  float between_rows = 0;
  float between_heads = 0;  // 64 columns each
};

TernaryMatrix random_ternary(size_t rows, size_t cols, const Structure& structure, uint64_t seed) {
  Rng rng(seed);
  TernaryMatrix ternary{.rows = rows, .cols = cols, .codes = {}, .scales = {0.5f}};
  std::vector<float> of_head(cols / 64 + 1);
  for (float& value : of_head) value = structure.between_heads * rng.normal();
  for (size_t r = 0; r < rows; ++r) {
    const float of_row = structure.between_rows * rng.normal();
    for (size_t c = 0; c < cols; ++c) {
      const double share = 1.0 / 3 + of_row + of_head[c / 64];
      const double draw = rng.uniform();
      ternary.codes.push_back(draw < share        ? int8_t{0}
                              : rng.below(2) == 0 ? int8_t{1}
                                                  : int8_t{-1});
    }
  }
  return ternary;
}

I2sLayoutGuess guess(const TernaryMatrix& ternary, I2sLayout layout) {
  const auto bytes = pack_i2s(ternary, layout);
  auto result = guess_i2s_layout({.rows = ternary.rows, .cols = ternary.cols, .bytes = bytes});
  EXPECT_TRUE(result) << result.error().message();
  return *std::move(result);
}

TEST(I2sLayoutGuess, weights_without_structure_cannot_be_told_apart) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto ternary = random_ternary(64, 1024, {}, seed);
    for (const auto layout : kI2sLayouts) {
      const auto result = guess(ternary, layout);
      EXPECT_EQ(result.confidence, 0) << result.reason;
      EXPECT_EQ(result.layout, I2sLayout::x86_block128);
      EXPECT_THAT(result.possible, ElementsAreArray(kI2sLayouts));
      EXPECT_THAT(result.reason, HasSubstr("x86-128 by default"));
    }
  }
}

TEST(I2sLayoutGuess, rows_that_differ_tell_interleaved_rows_from_contiguous_ones) {
  const auto ternary = random_ternary(256, 1024, {.between_rows = 0.05f}, 1);
  const auto four_rows = guess(ternary, I2sLayout::x86_four_rows);
  EXPECT_EQ(four_rows.layout, I2sLayout::x86_four_rows) << four_rows.reason;
  EXPECT_GT(four_rows.confidence, 0.96);
  for (const auto layout : {I2sLayout::x86_block128, I2sLayout::arm_block64}) {
    const auto blocks = guess(ternary, layout);
    EXPECT_EQ(blocks.confidence, 0) << blocks.reason;
    EXPECT_THAT(blocks.possible, ElementsAre(I2sLayout::x86_block128, I2sLayout::arm_block64));
    EXPECT_THAT(blocks.reason, HasSubstr("rows lie one after another"));
  }
}

TEST(I2sLayoutGuess, rows_and_heads_that_differ_tell_all_three_apart) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto ternary =
        random_ternary(256, 4096, {.between_rows = 0.05f, .between_heads = 0.03f}, seed);
    for (const auto layout : kI2sLayouts) {
      const auto result = guess(ternary, layout);
      // Never the wrong one; that it is sometimes undecided is allowed, see the next line.
      if (result.confidence > 0) {
        EXPECT_EQ(result.layout, layout) << result.reason;
      }
      EXPECT_THAT(result.possible, testing::Contains(layout)) << result.reason;
    }
  }
  const auto ternary =
      random_ternary(256, 4096, {.between_rows = 0.05f, .between_heads = 0.03f}, 0);
  for (const auto layout : kI2sLayouts) EXPECT_GT(guess(ternary, layout).confidence, 0.96);
}

TEST(I2sLayoutGuess, heads_alone_never_lead_to_a_wrong_answer) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto ternary = random_ternary(128, 4096, {.between_heads = 0.05f}, seed);
    for (const auto layout : kI2sLayouts) {
      EXPECT_THAT(guess(ternary, layout).possible, testing::Contains(layout));
    }
  }
}

TEST(I2sLayoutGuess, the_shape_may_leave_one_layout) {
  const auto narrow = guess(random_ternary(8, 20, {}, 1), I2sLayout::x86_four_rows);
  EXPECT_EQ(narrow.layout, I2sLayout::x86_four_rows);
  EXPECT_EQ(narrow.confidence, 1);
  const auto odd = guess(random_ternary(3, 192, {}, 1), I2sLayout::arm_block64);
  EXPECT_EQ(odd.layout, I2sLayout::arm_block64);
  EXPECT_EQ(odd.confidence, 1);
}

TEST(I2sLayoutGuess, the_shape_may_leave_two_layouts) {
  EXPECT_THAT(guess(random_ternary(8, 192, {}, 1), I2sLayout::arm_block64).possible,
              ElementsAre(I2sLayout::x86_four_rows, I2sLayout::arm_block64));
  EXPECT_THAT(guess(random_ternary(7, 256, {}, 1), I2sLayout::arm_block64).possible,
              ElementsAre(I2sLayout::x86_block128, I2sLayout::arm_block64));
  const auto varied = random_ternary(256, 960, {.between_rows = 0.05f}, 1);
  EXPECT_EQ(guess(varied, I2sLayout::arm_block64).layout, I2sLayout::arm_block64);
  EXPECT_GT(guess(varied, I2sLayout::arm_block64).confidence, 0.96);
}

TEST(I2sLayoutGuess, weights_that_are_all_zero_have_a_scale_of_zero) {
  const TernaryMatrix zeros{
      .rows = 8, .cols = 256, .codes = std::vector<int8_t>(8 * 256), .scales = {0.0f}};
  const auto result = guess(zeros, I2sLayout::x86_block128);
  EXPECT_EQ(result.confidence, 0) << result.reason;
  EXPECT_EQ(result.layout, I2sLayout::x86_block128);
}

TEST(I2sLayoutGuess, bytes_that_are_no_i2s_are_errors) {
  const auto ternary = random_ternary(8, 256, {}, 1);
  const auto good = pack_i2s(ternary, I2sLayout::x86_block128);
  const auto failure = [](const std::vector<uint8_t>& bytes) {
    const auto result = guess_i2s_layout({.rows = 8, .cols = 256, .bytes = bytes});
    return result ? "none" : result.error().message();
  };
  EXPECT_EQ(failure(good), "none");
  auto bytes = good;
  bytes.push_back(0);
  EXPECT_THAT(failure(bytes), HasSubstr("takes 544 bytes, there are 545"));
  bytes = good;
  bytes[100] = 0x03;
  EXPECT_THAT(failure(bytes), HasSubstr("byte 100 holds code 3"));
  for (const float scale : {0.0f, -1.0f, 1e-9f, 1e9f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()}) {
    bytes = good;
    store_bytes(bytes.data() + 512, scale);
    EXPECT_THAT(failure(bytes), HasSubstr("which no weights have")) << scale;
  }
  EXPECT_FALSE(guess_i2s_layout({.rows = 2, .cols = 30, .bytes = bytes}));
  EXPECT_FALSE(guess_i2s_layout({.rows = SIZE_MAX, .cols = SIZE_MAX, .bytes = bytes}));
}

}  // namespace
}  // namespace trilobite::quant
