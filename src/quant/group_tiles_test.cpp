#include "quant/group_tiles.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.hpp"

namespace trilobite::quant {
namespace {

constexpr GroupBits kAllBits[] = {GroupBits::four, GroupBits::six, GroupBits::eight};

WeightGroup random_group(GroupBits bits, uint64_t stream) {
  Rng rng(5, stream);
  WeightGroup group{.scale = Float16::from(rng.normal())};
  const auto range = static_cast<uint64_t>(2 * half_range(bits));
  for (auto& code : group.codes) {
    code = static_cast<int8_t>(static_cast<int>(rng.below(range)) - half_range(bits));
  }
  return group;
}

TEST(GroupTiles, give_back_every_group) {
  for (const auto bits : kAllBits) {
    for (const size_t rows : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 130u}) {
      for (const size_t columns : {1u, 31u, 32u, 33u, 257u}) {
        auto tiles = GroupTiles::create(rows, columns, bits).value();
        const auto group_of = [&](size_t row, size_t g) {
          return random_group(bits, row * tiles.groups() + g);
        };
        for (size_t row = 0; row < rows; ++row) {
          for (size_t g = 0; g < tiles.groups(); ++g) tiles.set_group(row, g, group_of(row, g));
        }
        for (size_t row = 0; row < rows; ++row) {
          for (size_t g = 0; g < tiles.groups(); ++g) {
            const auto got = tiles.group_at(row, g);
            ASSERT_EQ(got.scale.bits, group_of(row, g).scale.bits) << rows << "x" << columns;
            ASSERT_EQ(got.codes, group_of(row, g).codes) << rows << "x" << columns;
          }
        }
      }
    }
  }
}

/// Where a code or a scale of a matrix of 80 x 64 lies: the bytes that differ from all zeros.
struct Layout {
  using Bytes = std::vector<std::pair<size_t, int>>;
  explicit Layout(GroupBits bits) : tiles(GroupTiles::create(80, 64, bits).value()) {}
  Bytes of(size_t row, size_t group, const WeightGroup& weights) {
    auto zero = WeightGroup();
    tiles.set_group(row, group, zero);
    const std::vector<uint8_t> before(tiles.panel(0), tiles.panel(0) + tiles.bytes());
    tiles.set_group(row, group, weights);
    Bytes changed;
    for (size_t i = 0; i < tiles.bytes(); ++i) {
      if (tiles.panel(0)[i] != before[i]) changed.emplace_back(i, tiles.panel(0)[i]);
    }
    return changed;
  }
  Bytes of_code(size_t row, size_t column, int8_t code) {
    WeightGroup weights;
    weights.codes[column % kGroupColumns] = code;
    return of(row, column / kGroupColumns, weights);
  }
  GroupTiles tiles;
};

// The layout is part of the format: these positions are what docs/formats/group-tiles.md says.

TEST(GroupTiles, scales_lie_where_the_document_says) {
  const WeightGroup one{.scale = Float16::from(1.0f)};  // 0x3C00
  Layout four(GroupBits::four);
  EXPECT_EQ(four.of(0, 0, one), (Layout::Bytes{{1, 0x3C}}));
  EXPECT_EQ(four.of(1, 0, one), (Layout::Bytes{{3, 0x3C}}));
  EXPECT_EQ(four.of(16, 0, one), (Layout::Bytes{{33, 0x3C}}));
  EXPECT_EQ(four.of(0, 1, one), (Layout::Bytes{{4 * 288 + 1, 0x3C}}));
  EXPECT_EQ(four.of(64, 1, one), (Layout::Bytes{{8 * 288 + 288 + 1, 0x3C}}));  // one-tile panel
}

TEST(GroupTiles, four_bit_codes_lie_where_the_document_says) {
  Layout four(GroupBits::four);
  EXPECT_EQ(four.of_code(0, 0, 1), (Layout::Bytes{{128, 0x89}}));
  EXPECT_EQ(four.of_code(0, 1, -8), (Layout::Bytes{{129, 0x80}}));
  EXPECT_EQ(four.of_code(0, 4, 7), (Layout::Bytes{{128, 0xF8}}));
  EXPECT_EQ(four.of_code(1, 0, 1), (Layout::Bytes{{132, 0x89}}));
  EXPECT_EQ(four.of_code(16, 0, 1), (Layout::Bytes{{128 + 64, 0x89}}));
  EXPECT_EQ(four.of_code(0, 8, 1), (Layout::Bytes{{128 + 256, 0x89}}));
  EXPECT_EQ(four.of_code(64, 8, 1), (Layout::Bytes{{8 * 288 + 32 + 64, 0x89}}));
}

TEST(GroupTiles, six_bit_codes_lie_where_the_document_says) {
  Layout six(GroupBits::six);
  EXPECT_EQ(six.of_code(0, 0, 1), (Layout::Bytes{{128, 0x21}}));
  EXPECT_EQ(six.of_code(0, 4, 1), (Layout::Bytes{{128 + 64, 0x21}}));
  EXPECT_EQ(six.of_code(0, 9, 1), (Layout::Bytes{{128 + 128 + 1, 0xA1}}));
  // 32 + 7 = 39 = 0b10'01'11.
  EXPECT_EQ(six.of_code(0, 12, 7), (Layout::Bytes{{128, 0xE0}, {128 + 64, 0x60}}));
  EXPECT_EQ(six.of_code(0, 12, -32), (Layout::Bytes{{128 + 128, 0x20}}));
  EXPECT_EQ(six.of_code(16, 0, 1), (Layout::Bytes{{128 + 192, 0x21}}));
  EXPECT_EQ(six.of_code(0, 16, 1), (Layout::Bytes{{128 + 4 * 192, 0x21}}));
}

TEST(GroupTiles, eight_bit_codes_lie_where_the_document_says) {
  Layout eight(GroupBits::eight);
  EXPECT_EQ(eight.of_code(0, 0, -1), (Layout::Bytes{{128, 0xFF}}));
  EXPECT_EQ(eight.of_code(0, 4, -128), (Layout::Bytes{{128 + 64, 0x80}}));
  EXPECT_EQ(eight.of_code(16, 5, 1), (Layout::Bytes{{128 + 128 + 64 + 1, 1}}));
  EXPECT_EQ(eight.of_code(0, 8, 1), (Layout::Bytes{{128 + 4 * 128, 1}}));
}

TEST(GroupTiles, take_their_bits_and_half_a_bit_for_the_scale) {
  const auto bytes = [](size_t rows, size_t columns, GroupBits bits) {
    return GroupTiles::create(rows, columns, bits)->bytes();
  };
  EXPECT_EQ(bytes(2560, 6912, GroupBits::four), 2560u * 6912 * 9 / 16);
  EXPECT_EQ(bytes(2560, 6912, GroupBits::six), 2560u * 6912 * 13 / 16);
  EXPECT_EQ(bytes(2560, 6912, GroupBits::eight), 2560u * 6912 * 17 / 16);
  EXPECT_EQ(bytes(0, 32, GroupBits::four), 0u);
  EXPECT_EQ(bytes(16, 0, GroupBits::four), 0u);
}

TEST(GroupTiles, refuse_what_cannot_be_addressed) {
  EXPECT_EQ(GroupTiles::create(1, kMaxGroupedColumns + 1, GroupBits::six).error().message(),
            "a matrix of 6-bit groups may have at most 4194304 columns, not 4194305");
  EXPECT_EQ(GroupTiles::create(SIZE_MAX, 1 << 20, GroupBits::four).error().message(),
            "a matrix of 4-bit groups of 18446744073709551615 x 1048576 is too large");
}

TEST(GroupTilesDeathTest, hold_no_scale_that_is_not_finite_and_no_code_of_more_bits) {
  auto tiles = GroupTiles::create(1, 32, GroupBits::four).value();
  WeightGroup group{.scale = {0x7C00}};  // infinity
  EXPECT_DEATH(tiles.set_group(0, 0, group), "isfinite");
  group.scale = {0x7E00};  // NaN
  EXPECT_DEATH(tiles.set_group(0, 0, group), "isfinite");
  group.scale = {0xFBFF};  // -65504
  tiles.set_group(0, 0, group);
  group.codes[31] = 8;
  EXPECT_DEATH(tiles.set_group(0, 0, group), "are_codes_of");
  EXPECT_DEATH(tiles.set_group(1, 0, WeightGroup()), "row");
}

}  // namespace
}  // namespace trilobite::quant
