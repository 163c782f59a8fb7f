#include "kernels/block_repack.hpp"

#include <atomic>
#include <vector>

#include "kernels/tile_source.hpp"
#include "quant/byte_order.hpp"
#include "quant/gguf_block.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/block_repack.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/row_words-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels {

#ifndef TRILOBITE_KERNELS_BLOCK_REPACK_TILE
#define TRILOBITE_KERNELS_BLOCK_REPACK_TILE
/// One tile of a panel: where its rows are and where they go.
struct BlockTile {
  TileRows rows;
  size_t blocks;  // of a row
  uint8_t* panel;
  size_t tiles;  // of the panel
  size_t index;  // of the tile in the panel
};

/// Where the parts of a tile are in a layout.
template <quant::TiledBlocks kFormat>
struct BlockPlaces {
  static constexpr auto kLayout = quant::layout_of(kFormat);
  static constexpr size_t kUnitBytes =
      quant::unit_blocks(kLayout.code_bits) * quant::kTileBlockBytes;

  static uint8_t* super(const BlockTile& tile, size_t group) {
    return tile.panel + kLayout.super_at(group, tile.tiles);
  }
  static uint8_t* header(const BlockTile& tile, size_t group) {
    return tile.panel + kLayout.group_at(group, tile.tiles);
  }
  /// Of the first unit, from row `row` of the tile on.
  static uint8_t* first_unit(const BlockTile& tile, size_t group, size_t row) {
    return header(tile, group) + tile.tiles * kLayout.group_header + tile.index * kUnitBytes +
           row * quant::kQuad;
  }
  static size_t unit_stride(const BlockTile& tile) { return tile.tiles * kUnitBytes; }
};
#endif

namespace HWY_NAMESPACE {

using quant::kTileBlockBytes;
using quant::kTileRows;
using quant::kTileScaleBytes;

/// Byte i holds weight i in its low and weight i + 16 in its high nibble.
struct Q4_1Block : BlockPlaces<quant::TiledBlocks::q4_1> {
  static constexpr size_t kBytes = 20;
  static HWY_INLINE bool headers(const BlockTile& tile, size_t b) {
    uint8_t* to = header(tile, b) + tile.index * kTileScaleBytes;
    const bool scales = copy_f16(tile.rows.row.data(), b * kBytes, to);
    return copy_f16(tile.rows.row.data(), b * kBytes + 2, to + tile.tiles * kTileScaleBytes) &&
           scales;
  }
  static HWY_INLINE void codes(const BlockTile& tile, size_t b, size_t row) {
    RowWords words[4];
    load_four_words(tile.rows.row.data() + row, b * kBytes + 4, words);
    for (size_t n = 0; n < 2; ++n) {
      uint8_t* to = first_unit(tile, b, row) + n * unit_stride(tile);
      pair_nibbles(words[2 * n], words[2 * n + 1], to, to + 2 * unit_stride(tile));
    }
  }
};

/// Bytes 32 p + i hold weight i of group 2 p in their low and of group 2 p + 1 in their high
/// nibble.
struct Q4_KBlock : BlockPlaces<quant::TiledBlocks::q4_k> {
  static constexpr size_t kBytes = 144;
  static HWY_INLINE bool headers(const BlockTile& tile, size_t b) {
    uint8_t* to = super(tile, 8 * b) + tile.index * kTileScaleBytes;
    const bool scales = copy_f16(tile.rows.row.data(), b * kBytes, to);
    const bool minima =
        copy_f16(tile.rows.row.data(), b * kBytes + 2, to + tile.tiles * kTileScaleBytes);
    for (size_t r = 0; r < kTileRows; ++r) {
      sub_scales(tile, b, r, tile.rows.row[r] + b * kBytes + 4);
    }
    return scales && minima;
  }
  /// Six bits each: four groups a byte, and four in pieces, low four bits here, high two bits
  /// there.
  static HWY_INLINE void sub_scales(const BlockTile& tile, size_t b, size_t row,
                                    const uint8_t* from) {
    const auto first = quant::load_bytes<uint32_t>(from);
    const auto second = quant::load_bytes<uint32_t>(from + 4);
    const auto third = quant::load_bytes<uint32_t>(from + 8);
    constexpr uint32_t kSix = 0x3F3F3F3F, kFour = 0x0F0F0F0F, kTwo = 0x03030303;
    const uint32_t scales[] = {first & kSix, (third & kFour) | (first >> 6 & kTwo) << 4};
    const uint32_t minima[] = {second & kSix, (third >> 4 & kFour) | (second >> 6 & kTwo) << 4};
    const size_t at = tile.index * kTileRows + row;
    for (size_t g = 0; g < 8; ++g) {
      uint8_t* to = header(tile, 8 * b + g) + at;
      to[0] = static_cast<uint8_t>(scales[g / 4] >> 8 * (g % 4));
      to[tile.tiles * kTileRows] = static_cast<uint8_t>(minima[g / 4] >> 8 * (g % 4));
    }
  }
  static HWY_INLINE void codes(const BlockTile& tile, size_t b, size_t row) {
    for (size_t pair = 0; pair < 4; ++pair) {
      uint8_t* low = first_unit(tile, 8 * b + 2 * pair, row);
      uint8_t* high = first_unit(tile, 8 * b + 2 * pair + 1, row);
      for (size_t half = 0; half < 2; ++half) {
        RowWords words[4];
        load_four_words(tile.rows.row.data() + row, b * kBytes + 16 + 32 * pair + 16 * half, words);
        for (size_t n = 0; n < 2; ++n) {
          const size_t at = (2 * half + n) * unit_stride(tile);
          pair_nibbles(words[2 * n], words[2 * n + 1], low + at, high + at);
        }
      }
    }
  }
};

/// Weight 128 h + 32 k + i: four bits in byte 64 h + 32 (k % 2) + i, two in byte 128 + 32 h + i.
struct Q6_KBlock : BlockPlaces<quant::TiledBlocks::q6_k> {
  static constexpr size_t kBytes = 210;
  static HWY_INLINE bool headers(const BlockTile& tile, size_t b) {
    for (size_t r = 0; r < kTileRows; ++r) {
      const uint8_t* from = tile.rows.row[r] + b * kBytes + 192;
      for (size_t g = 0; g < 8; ++g) {
        uint8_t* to = header(tile, 8 * b + g) + 2 * (tile.index * kTileRows + r);
        quant::store_bytes(to, quant::load_bytes<uint16_t>(from + 2 * g));
      }
    }
    return copy_f16(tile.rows.row.data(), b * kBytes + 208,
                    super(tile, 8 * b) + tile.index * kTileScaleBytes);
  }

  /// Sixteen columns: the first three quads whole, the fourth spread over the bits above them.
  static HWY_INLINE void store_unit(const RowWords (&quads)[4], uint8_t* to) {
    const auto upper = row_words(0xC0C0C0C0);
    const auto part = [&](auto shifted) HWY_ATTR { return hn::And(shifted, upper); };
    store_row_words(hn::Or(quads[0], part(hn::ShiftLeft<6>(quads[3]))), to);
    store_row_words(hn::Or(quads[1], part(hn::ShiftLeft<4>(quads[3]))), to + kTileBlockBytes);
    store_row_words(hn::Or(quads[2], part(hn::ShiftLeft<2>(quads[3]))), to + 2 * kTileBlockBytes);
  }
  /// Group k of a half from its low and high bits.
  template <int kGroup>
  static HWY_INLINE void store_group(const RowWords (&low)[4], const RowWords (&high)[4],
                                     uint8_t* to) {
    RowWords quads[4];
    for (size_t n = 0; n < 4; ++n) {
      const auto four = byte_field < kGroup<2 ? 0 : 4>(low[n], row_words(0x0F0F0F0F));
      const auto two = byte_field<2 * kGroup>(high[n], row_words(0x03030303));
      quads[n] = hn::Or(four, hn::ShiftLeft<4>(two));
    }
    store_unit(quads, to);
  }
  static HWY_INLINE void codes(const BlockTile& tile, size_t b, size_t row) {
    const auto* rows = tile.rows.row.data() + row;
    for (size_t half = 0; half < 2; ++half) {
      for (size_t unit = 0; unit < 2; ++unit) {
        const size_t at = b * kBytes + 16 * unit;
        RowWords even[4], odd[4], high[4];
        load_four_words(rows, at + 64 * half, even);
        load_four_words(rows, at + 64 * half + 32, odd);
        load_four_words(rows, at + 128 + 32 * half, high);
        const auto to = [&](size_t k) {
          return first_unit(tile, 8 * b + 4 * half + k, row) + unit * unit_stride(tile);
        };
        store_group<0>(even, high, to(0));
        store_group<1>(odd, high, to(1));
        store_group<2>(even, high, to(2));
        store_group<3>(odd, high, to(3));
      }
    }
  }
};

template <class Block>
bool convert_tile(const BlockTile& tile) {
  bool finite = true;
  for (size_t b = 0; b < tile.blocks; ++b) {
    fetch_ahead(tile.rows.ahead + b * kTileRows * Block::kBytes, kTileRows * Block::kBytes);
    finite = Block::headers(tile, b) && finite;
    for (size_t row = 0; row < kTileRows; row += kVectorRows) Block::codes(tile, b, row);
  }
  return finite;
}

bool block_tile_for_target(quant::TiledBlocks format, const BlockTile& tile) {
  switch (format) {
    case quant::TiledBlocks::q4_1: return convert_tile<Q4_1Block>(tile);
    case quant::TiledBlocks::q4_k: return convert_tile<Q4_KBlock>(tile);
    case quant::TiledBlocks::q6_k: return convert_tile<Q6_KBlock>(tile);
  }
  return false;
}

}  // namespace HWY_NAMESPACE
}  // namespace trilobite::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(block_tile_for_target);

Result<quant::BlockTiles> repack_blocks(quant::TiledBlocks format,
                                        const quant::QuantizedView& packed, ThreadPool& pool) {
  const auto& block = quant::block_format(name_of(format));
  if (const auto right = check_block_bytes(block, packed); !right) return fail_from(right);
  auto tiles = quant::BlockTiles::create_unfilled(packed.rows, packed.cols, format);
  if (!tiles) return tiles;
  const size_t blocks = packed.cols / block.columns;
  const TileSource source(packed.bytes, std::vector<uint8_t>(blocks * block.bytes));
  std::atomic<bool> right = true;
  for_each_tile(*tiles, pool, [&](size_t panel, size_t index) {
    const BlockTile tile{source.tile(panel * quant::kTilesPerPanel + index), blocks,
                         tiles->panel(panel), tiles->tiles_of_panel(panel), index};
    if (!HWY_DYNAMIC_DISPATCH(block_tile_for_target)(format, tile)) right = false;
  });
  if (!right) return fail_from(check_blocks(block, packed));
  return tiles;
}

}  // namespace trilobite::kernels
#endif
