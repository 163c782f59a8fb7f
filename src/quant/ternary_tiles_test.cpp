#include "quant/ternary_tiles.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.hpp"

namespace trilobite::quant {
namespace {

constexpr TernaryForm kForms[] = {TernaryForm::two_bit, TernaryForm::five_trits_a_byte};

std::vector<int8_t> random_weights(size_t count) {
  std::vector<int8_t> weights(count);
  for (size_t i = 0; i < count; ++i) weights[i] = static_cast<int8_t>(philox(7, 0, i)[0] % 3 - 1);
  return weights;
}

TEST(TernaryTiles, GiveBackEveryWeight) {
  for (const auto form : kForms) {
    for (const size_t rows : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 130u}) {
      for (const size_t columns : {1u, 4u, 15u, 16u, 17u, 20u, 21u, 257u}) {
        const auto weights = random_weights(rows * columns);
        const auto tiles = TernaryTiles::pack(weights, rows, columns, form);
        ASSERT_TRUE(tiles);
        for (size_t i = 0; i < weights.size(); ++i) {
          ASSERT_EQ(tiles->weight_at(i / columns, i % columns), weights[i])
              << rows << "x" << columns;
        }
      }
    }
  }
}

TEST(TernaryTiles, EveryByteOfFiveTritsIsItsBase3Number) {
  for (unsigned value = 0; value < 243; ++value) {
    const uint8_t codes[] = {uint8_t(value / 81), uint8_t(value / 27 % 3), uint8_t(value / 9 % 3),
                             uint8_t(value / 3 % 3), uint8_t(value % 3)};
    const uint8_t byte = pack_codes(TernaryForm::five_trits_a_byte, codes);
    EXPECT_EQ(byte, value);
    for (size_t plane = 0; plane < 5; ++plane) {
      EXPECT_EQ(code_at(TernaryForm::five_trits_a_byte, byte, plane), codes[plane]);
    }
  }
}

// The layout is part of the format: these positions are what docs/formats/ternary-tiles.md says.
TEST(TernaryTiles, LieWhereTheDocumentSays) {
  auto tiles = TernaryTiles::create(80, 40, TernaryForm::two_bit).value();
  const auto changed_by = [&](size_t row, size_t column) {
    tiles.set_weight(row, column, 1);
    size_t at = 0;
    while (tiles.panel(0)[at] == 0x55) ++at;
    const uint8_t byte = tiles.panel(0)[at];
    tiles.set_weight(row, column, 0);
    return std::pair(at, byte);
  };
  EXPECT_EQ(changed_by(0, 0), std::pair(size_t{0}, uint8_t{0x56}));
  EXPECT_EQ(changed_by(0, 1), std::pair(size_t{1}, uint8_t{0x56}));
  EXPECT_EQ(changed_by(0, 4), std::pair(size_t{0}, uint8_t{0x59}));
  EXPECT_EQ(changed_by(1, 0), std::pair(size_t{4}, uint8_t{0x56}));
  EXPECT_EQ(changed_by(16, 0), std::pair(size_t{64}, uint8_t{0x56}));   // next tile
  EXPECT_EQ(changed_by(0, 16), std::pair(size_t{256}, uint8_t{0x56}));  // next block of the panel
  EXPECT_EQ(changed_by(64, 16),
            std::pair(size_t{4 * 3 * 64 + 64}, uint8_t{0x56}));  // one-tile panel
}

TEST(TernaryTiles, TakeLessThanTwoBitsPlusPadding) {
  EXPECT_EQ(TernaryTiles::create(2560, 6912, TernaryForm::two_bit)->bytes(), 2560u * 6912 / 4);
  EXPECT_EQ(TernaryTiles::create(2560, 2560, TernaryForm::five_trits_a_byte)->bytes(),
            2560u * 2560 / 5);
  EXPECT_EQ(TernaryTiles::create(0, 16, TernaryForm::two_bit)->bytes(), 0u);
  EXPECT_EQ(TernaryTiles::create(16, 0, TernaryForm::two_bit)->bytes(), 0u);
}

TEST(TernaryTiles, RefuseWhatIsNoTernaryMatrix) {
  const std::vector<int8_t> two{0, 2};
  EXPECT_EQ(TernaryTiles::pack(two, 1, 2, TernaryForm::two_bit).error().message(),
            "weight 2 in row 0, column 1 is not -1, 0 or 1");
  EXPECT_EQ(TernaryTiles::pack(two, 2, 2, TernaryForm::two_bit).error().message(),
            "a ternary matrix of 2 x 2 needs 4 weights, not 2");
  EXPECT_FALSE(TernaryTiles::create(1, kMaxTernaryColumns + 1, TernaryForm::two_bit));
  EXPECT_FALSE(TernaryTiles::create(SIZE_MAX / 2, 1 << 20, TernaryForm::two_bit));
}

}  // namespace
}  // namespace trilobite::quant
