#include "kernels/group_repack.hpp"

#include <atomic>
#include <cstring>
#include <vector>

#include "kernels/ternary_tile.hpp"
#include "quant/byte_order.hpp"
#include "quant/gguf_block.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/group_repack.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "hwy/cache_control.h"
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

/// Copies the scales of all rows and says whether they are finite.
HWY_INLINE bool copy_scales(const TileRows& rows, size_t at, uint8_t* to) {
  uint32_t carry = 0;
  for (size_t r = 0; r < kTileRows; ++r) {
    const auto bits = quant::load_bytes<uint16_t>(rows.row[r] + at);
    quant::store_bytes(to + r * sizeof(bits), bits);
    // An exponent of all ones carries into bit 15.
    carry |= (bits & 0x7C00u) + 0x0400u;
  }
  return (carry & 0x8000u) == 0;
}

/// Byte i holds weight i in its low and weight i + 16 in its high nibble.
struct Q4Block {
  static constexpr auto kBits = GroupBits::four;
  static constexpr size_t kBytes = 18;
  static HWY_INLINE void convert(const uint8_t* const* rows, size_t at, GroupOut out) {
    const auto low = row_words(0x0F0F0F0F);
    RowWords words[4];
    load_four_words(rows, at, words);
    for (size_t n = 0; n < 2; ++n) {
      const auto a = words[2 * n];
      const auto b = words[2 * n + 1];
      store_row_words(hn::Or(hn::And(a, low), hn::ShiftLeft<4>(hn::And(b, low))),
                      out.codes + n * out.unit_stride);
      store_row_words(hn::Or(byte_field<4>(a, low), hn::AndNot(low, b)),
                      out.codes + (n + 2) * out.unit_stride);
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
  return tile.panel + group * tile.tiles * quant::tile_group_bytes(kBits) +
         tile.index * kTileScaleBytes;
}
template <GroupBits kBits>
HWY_INLINE GroupOut codes_of(const GroupTile& tile, size_t group) {
  constexpr size_t kUnitBytes = quant::unit_blocks(kBits) * kTileBlockBytes;
  return {tile.panel + group * tile.tiles * quant::tile_group_bytes(kBits) +
              tile.tiles * kTileScaleBytes + tile.index * kUnitBytes,
          tile.tiles * kUnitBytes};
}

template <class Block>
bool convert_tile(const GroupTile& tile) {
  bool finite = true;
  for (size_t g = 0; g < tile.groups; ++g) {
    const uint8_t* ahead = tile.rows.ahead + g * kTileRows * Block::kBytes;
    for (size_t at = 0; at < kTileRows * Block::kBytes; at += 64) hwy::Prefetch(ahead + at);
    const size_t at = g * Block::kBytes;
    finite = copy_scales(tile.rows, at, scales_of<Block::kBits>(tile, g)) && finite;
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
    right = copy_scales(tile.rows, block_at + scale_at, scales_of<kBits>(tile, g)) && right;
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
  pool.for_range(tiles->panels(), 1, [&](size_t first, size_t last) {
    for (size_t panel = first; panel < last; ++panel) {
      const size_t count = tiles->tiles_of_panel(panel);
      for (size_t t = 0; t < count; ++t) {
        const GroupTile tile{blocks,          source.tile(panel * quant::kTilesPerPanel + t),
                             tiles->groups(), tiles->panel(panel),
                             count,           t};
        if (!HWY_DYNAMIC_DISPATCH(group_tile_for_target)(tile)) right = false;
      }
    }
  });
  if (!right) return fail_from(check_blocks(format, packed));
  return tiles;
}

}  // namespace trilobite::kernels
#endif
