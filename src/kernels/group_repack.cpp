#include "kernels/group_repack.hpp"

#include <atomic>
#include <vector>

#include "kernels/ternary_tile.hpp"
#include "quant/gguf_block.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/group_repack.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/row_words-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels {

#ifndef TRILOBITE_KERNELS_GROUP_REPACK_TILE
#define TRILOBITE_KERNELS_GROUP_REPACK_TILE
/// One tile of a panel: where its rows are and where they go.
struct GroupTile {
  GroupBlocks blocks;
  TileRows rows;
  size_t groups;
  uint8_t* panel;
  size_t tiles;  // of the panel
  size_t index;  // of the tile in the panel
};
#endif

namespace HWY_NAMESPACE {

using quant::GroupBits;
using quant::kQuad;
using quant::kTileBlockBytes;
using quant::kTileRows;
using quant::kTileScaleBytes;

/// Where the codes of one group go, from some row on.
struct GroupOut {
  uint8_t* codes;
  size_t unit_stride;
};

/// Byte i holds weight i in its low and weight i + 16 in its high nibble.
struct Q4Block {
  static constexpr auto kBits = GroupBits::four;
  static constexpr size_t kBytes = 18;
  static HWY_INLINE void convert(const uint8_t* const* rows, size_t at, GroupOut out) {
    RowWords words[4];
    load_four_words(rows, at, words);
    for (size_t n = 0; n < 2; ++n) {
      uint8_t* to = out.codes + n * out.unit_stride;
      pair_nibbles(words[2 * n], words[2 * n + 1], to, to + 2 * out.unit_stride);
    }
  }
};

struct Q8Block {
  static constexpr auto kBits = GroupBits::eight;
  static constexpr size_t kBytes = 34;
  static HWY_INLINE void convert(const uint8_t* const* rows, size_t at, GroupOut out) {
    for (size_t half = 0; half < 2; ++half) {
      RowWords words[4];
      load_four_words(rows, at + 16 * half, words);
      for (size_t n = 0; n < 4; ++n) {
        store_row_words(words[n],
                        out.codes + (2 * half + n / 2) * out.unit_stride + n % 2 * kTileBlockBytes);
      }
    }
  }
};

/// The first of the tile's bytes in a group, and its codes.
template <GroupBits kBits>
HWY_INLINE uint8_t* scales_of(const GroupTile& tile, size_t group) {
  return tile.panel + quant::layout_of(kBits).group_at(group, tile.tiles) +
         tile.index * kTileScaleBytes;
}
template <GroupBits kBits>
HWY_INLINE GroupOut codes_of(const GroupTile& tile, size_t group) {
  constexpr size_t kUnitBytes = quant::unit_blocks(kBits) * kTileBlockBytes;
  return {tile.panel + quant::layout_of(kBits).group_at(group, tile.tiles) +
              tile.tiles * kTileScaleBytes + tile.index * kUnitBytes,
          tile.tiles * kUnitBytes};
}

template <class Block>
bool convert_tile(const GroupTile& tile) {
  bool finite = true;
  for (size_t g = 0; g < tile.groups; ++g) {
    fetch_ahead(tile.rows.ahead + g * kTileRows * Block::kBytes, kTileRows * Block::kBytes);
    const size_t at = g * Block::kBytes;
    finite = copy_f16(tile.rows.row.data(), at, scales_of<Block::kBits>(tile, g)) && finite;
    GroupOut out = codes_of<Block::kBits>(tile, g);
    for (size_t row = 0; row < kTileRows; row += kVectorRows, out.codes += kRowVectorBytes) {
      Block::convert(tile.rows.row.data() + row, at + sizeof(Float16), out);
    }
  }
  return finite;
}

/// 2-bit codes of weight + 1 become 4-bit codes of weight + 8: add 7.
HWY_INLINE void expand(const uint8_t* two_bits, GroupOut out) {
  const auto mask = row_words(0x03030303);
  const auto seven = row_words(0x77777777);
  for (size_t row = 0; row < kTileRows; row += kVectorRows, out.codes += kRowVectorBytes) {
    const auto words = load_row_words(two_bits + row * kQuad);
    const auto first = hn::Or(hn::And(words, mask), hn::ShiftLeft<4>(byte_field<2>(words, mask)));
    const auto second =
        hn::Or(byte_field<4>(words, mask), hn::ShiftLeft<4>(byte_field<6>(words, mask)));
    store_row_words(hn::Add(first, seven), out.codes);
    store_row_words(hn::Add(second, seven), out.codes + out.unit_stride);
  }
}

/// Eight groups share the scale of a block of 256 columns; two bits are the halfway house.
bool convert_ternary_tile(const GroupTile& tile) {
  constexpr size_t kBlockGroups = 8;
  constexpr auto kBits = GroupBits::four;
  const bool is_tq1 = tile.blocks == GroupBlocks::tq1_0;
  const size_t scale_at = is_tq1 ? 52 : 64;
  std::vector<uint8_t> two_bits(tile.groups * 2 * kTileBlockBytes);
  bool right = two_bit_tile(is_tq1 ? TernaryCodes::tq1_0 : TernaryCodes::tq2_0, tile.rows,
                            tile.groups * quant::kGroupColumns, {two_bits.data(), kTileBlockBytes});
  for (size_t g = 0; g < tile.groups; ++g) {
    const size_t block_at = g / kBlockGroups * (scale_at + sizeof(Float16));
    right = copy_f16(tile.rows.row.data(), block_at + scale_at, scales_of<kBits>(tile, g)) && right;
    GroupOut out = codes_of<kBits>(tile, g);
    expand(two_bits.data() + 2 * g * kTileBlockBytes, out);
    out.codes += 2 * out.unit_stride;
    expand(two_bits.data() + (2 * g + 1) * kTileBlockBytes, out);
  }
  return right;
}

bool group_tile_for_target(const GroupTile& tile) {
  switch (tile.blocks) {
    case GroupBlocks::q4_0: return convert_tile<Q4Block>(tile);
    case GroupBlocks::q8_0: return convert_tile<Q8Block>(tile);
    case GroupBlocks::tq1_0:
    case GroupBlocks::tq2_0: return convert_ternary_tile(tile);
  }
  return false;
}

}  // namespace HWY_NAMESPACE
}  // namespace trilobite::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {
namespace {

HWY_EXPORT(group_tile_for_target);

const quant::BlockFormat& format_of(GroupBlocks blocks) {
  switch (blocks) {
    case GroupBlocks::q4_0: return quant::block_format("q4_0");
    case GroupBlocks::q8_0: return quant::block_format("q8_0");
    case GroupBlocks::tq1_0: return quant::block_format("tq1_0");
    case GroupBlocks::tq2_0: break;
  }
  return quant::block_format("tq2_0");
}

}  // namespace

Result<quant::GroupTiles> repack_groups(GroupBlocks blocks, const quant::QuantizedView& packed,
                                        ThreadPool& pool) {
  const auto& format = format_of(blocks);
  if (const auto right = check_block_bytes(format, packed); !right) return fail_from(right);
  auto tiles = quant::GroupTiles::create_unfilled(
      packed.rows, packed.cols,
      blocks == GroupBlocks::q8_0 ? quant::GroupBits::eight : quant::GroupBits::four);
  if (!tiles) return tiles;
  const TileSource source(packed.bytes,
                          std::vector<uint8_t>(packed.cols / format.columns * format.bytes));
  std::atomic<bool> right = true;
  for_each_tile(*tiles, pool, [&](size_t panel, size_t index) {
    const GroupTile tile{blocks,
                         source.tile(panel * quant::kTilesPerPanel + index),
                         tiles->groups(),
                         tiles->panel(panel),
                         tiles->tiles_of_panel(panel),
                         index};
    if (!HWY_DYNAMIC_DISPATCH(group_tile_for_target)(tile)) right = false;
  });
  if (!right) return fail_from(check_blocks(format, packed));
  return tiles;
}

}  // namespace trilobite::kernels
#endif
