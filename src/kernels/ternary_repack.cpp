#include "kernels/ternary_repack.hpp"

#include <algorithm>
#include <atomic>
#include <string_view>

#include "kernels/ternary_scales.hpp"
#include "kernels/ternary_tile.hpp"
#include "quant/gguf_block.hpp"

namespace trilobite::kernels {
namespace {

using quant::BlockFormat;
using quant::kTileBlockBytes;
using quant::kTilesPerPanel;
using quant::QuantizedView;
using quant::TernaryForm;
using quant::TernaryTiles;

/// Four codes of weight 0.
constexpr uint8_t kZeroCodes = 0x55;

/// A packed tensor that knows how to write tile after tile.
struct Repack {
  TernaryCodes codes;
  const TileSource& source;
  TernaryTiles& tiles;

  /// False when there is a code 3.
  bool panels(size_t first, size_t last) const {
    std::vector<uint8_t> two_bits;
    bool right = true;
    for (size_t panel = first; panel < last; ++panel) {
      const size_t stride = tiles.tiles_of_panel(panel) * kTileBlockBytes;
      for (size_t tile = 0; tile < tiles.tiles_of_panel(panel); ++tile) {
        const auto rows = source.tile(panel * kTilesPerPanel + tile);
        const TileBlocks out{tiles.panel(panel) + tile * kTileBlockBytes, stride};
        right =
            (tiles.form() == TernaryForm::two_bit ? two_bit_tile(codes, rows, tiles.columns(), out)
                                                  : trit_tile(rows, out, two_bits)) &&
            right;
      }
    }
    return right;
  }

  /// By way of two bits, in memory that stays in the caches.
  bool trit_tile(const TileRows& rows, TileBlocks out, std::vector<uint8_t>& two_bits) const {
    const size_t blocks = (tiles.padded_columns() + 15) / 16;
    two_bits.resize(blocks * kTileBlockBytes, kZeroCodes);
    const bool right =
        two_bit_tile(codes, rows, tiles.columns(), {two_bits.data(), kTileBlockBytes});
    trits_from_two_bits(two_bits.data(), tiles.blocks_per_row(), out);
    return right;
  }
};

std::vector<uint8_t> zero_block(const BlockFormat& format) {
  std::vector<uint8_t> block(format.bytes);
  format.encode(std::vector<float>(format.columns).data(), block.data());
  return block;
}

TernaryCodes codes_of(quant::I2sLayout layout) {
  switch (layout) {
    case quant::I2sLayout::x86_block128: return TernaryCodes::i2s_block128;
    case quant::I2sLayout::x86_four_rows: return TernaryCodes::i2s_four_rows;
    case quant::I2sLayout::arm_block64: return TernaryCodes::i2s_block64;
  }
  return TernaryCodes::i2s_block128;
}

}  // namespace

Result<std::optional<TernaryWeights>> repack_ternary_blocks(TernaryBlocks blocks,
                                                            const QuantizedView& packed,
                                                            TernaryForm form, ThreadPool& pool) {
  const bool is_tq1 = blocks == TernaryBlocks::tq1_0;
  const auto& format = quant::block_format(is_tq1 ? "tq1_0" : "tq2_0");
  if (const auto right = check_block_bytes(format, packed); !right) return fail_from(right);
  TernaryBlockScales scales(format, packed);
  if (!scales.look_at(0, 1)) return std::nullopt;
  auto tiles = TernaryTiles::create_unfilled(packed.rows, packed.cols, form);
  if (!tiles) return fail_from(tiles);
  const TileSource source(packed.bytes,
                          row_of_blocks(zero_block(format), packed.cols / format.columns));
  const Repack repack{is_tq1 ? TernaryCodes::tq1_0 : TernaryCodes::tq2_0, source, *tiles};
  std::atomic<bool> right = true;
  pool.for_range(packed.rows, quant::kPanelRows, [&](size_t first, size_t last) {
    for (size_t row = first; row < last; row += quant::kPanelRows) {
      const size_t panel = row / quant::kPanelRows;
      if (!repack.panels(panel, panel + 1)) right = false;
      scales.look_at(row, std::min(last, row + quant::kPanelRows));
    }
  });
  if (!right || !scales.are_finite()) return fail_from(check_blocks(format, packed));
  if (!scales.are_shared_in_rows()) return std::nullopt;
  return TernaryWeights{*std::move(tiles), scales.joined()};
}

Result<TernaryTiles> tile_ternary_rows(TernaryCodes codes, const QuantizedView& rows) {
  auto tiles = TernaryTiles::create_unfilled(rows.rows, rows.cols, TernaryForm::two_bit);
  if (!tiles) return tiles;
  const auto& format = quant::block_format("tq2_0");
  const TileSource source(rows.bytes, codes == TernaryCodes::tq2_0
                                          ? row_of_blocks(zero_block(format), rows.cols / 256)
                                          : std::vector(rows.cols / 4, kZeroCodes));
  Repack{codes, source, *tiles}.panels(0, tiles->panels());
  return tiles;
}

Result<TernaryWeights> repack_i2s(quant::I2sLayout layout, const QuantizedView& packed,
                                  TernaryForm form, ThreadPool& pool) {
  const auto scale = quant::i2s_scale(layout, packed);
  if (!scale) return fail_from(scale);
  auto tiles = TernaryTiles::create_unfilled(packed.rows, packed.cols, form);
  if (!tiles) return fail_from(tiles);
  const bool four_rows = layout == quant::I2sLayout::x86_four_rows;
  const TileSource source(packed.bytes.first(packed.rows * packed.cols / 4),
                          std::vector(four_rows ? packed.cols : packed.cols / 4, kZeroCodes),
                          four_rows ? quant::kTileRows / 4 : quant::kTileRows);
  const Repack repack{codes_of(layout), source, *tiles};
  std::atomic<bool> right = true;
  pool.for_range(tiles->panels(), 1, [&](size_t first, size_t last) {
    if (!repack.panels(first, last)) right = false;
  });
  if (!right) return fail_from(unpack_i2s(layout, packed));
  return TernaryWeights{*std::move(tiles), {*scale}};
}

}  // namespace trilobite::kernels
