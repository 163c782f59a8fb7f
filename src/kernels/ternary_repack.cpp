#include "kernels/ternary_repack.hpp"

#include <algorithm>
#include <atomic>
#include <string_view>

#include "kernels/ternary_tile.hpp"
#include "quant/byte_order.hpp"
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

/// What the scales of a row's blocks are.
struct RowScale {
  uint16_t bits = 0;  // f16
  bool finite = true;
  bool shared = true;  // by all blocks with weights other than 0
};

/// The rows of a tensor of ternary blocks.
class BlockRows {
 public:
  BlockRows(const BlockFormat& format, const QuantizedView& packed)
      : format_(format), packed_(packed), count_(packed.cols / format.columns) {}

  /// Looks at the codes only where the scales differ.
  RowScale scale_of(size_t row) const {
    const uint16_t first = bits_of(row, 0);
    RowScale scale{.bits = first};
    bool same = true;
    for (size_t b = 0; b < count_; ++b) {
      same = same && bits_of(row, b) == first;
      scale.finite = scale.finite && (bits_of(row, b) & kExponent) != kExponent;
    }
    if (!same) share_among_weights(row, scale);
    return scale;
  }
  bool has_weights(size_t row) const {
    for (size_t b = 0; b < count_; ++b) {
      if (block_has_weights(row, b)) return true;
    }
    return false;
  }

 private:
  static constexpr uint16_t kExponent = 0x7C00;

  const uint8_t* block(size_t row, size_t b) const {
    return packed_.bytes.data() + (row * count_ + b) * format_.bytes;
  }
  uint16_t bits_of(size_t row, size_t b) const {
    return quant::load_bytes<uint16_t>(block(row, b) + format_.scale_offsets[0]);
  }
  /// Whether any code is not that of weight 0, whatever the scale.
  bool block_has_weights(size_t row, size_t b) const {
    std::vector<uint8_t> unscaled(block(row, b), block(row, b) + format_.bytes);
    quant::store_f16(unscaled.data() + format_.scale_offsets[0], 1.0f);
    std::vector<float> weights(format_.columns);
    format_.decode(unscaled.data(), weights.data());
    return std::ranges::any_of(weights, [](float w) { return w != 0; });
  }
  void share_among_weights(size_t row, RowScale& scale) const {
    bool found = false;
    for (size_t b = 0; b < count_; ++b) {
      if ((found && bits_of(row, b) == scale.bits) || !block_has_weights(row, b)) continue;
      scale.shared = scale.shared && !found;
      if (!found) scale.bits = bits_of(row, b);
      found = true;
    }
  }

  const BlockFormat& format_;
  const QuantizedView& packed_;
  size_t count_;
};

float value_of(uint16_t bits) { return Float16{bits}.to_float(); }

/// One scale when all rows with weights other than 0 have the same.
std::vector<float> join_scales(const std::vector<RowScale>& rows, const BlockRows& blocks) {
  std::optional<uint16_t> joint;
  bool same = true;
  for (size_t r = 0; r < rows.size() && same; ++r) {
    if (joint == rows[r].bits || !blocks.has_weights(r)) continue;
    same = !joint;
    joint = rows[r].bits;
  }
  if (same) return {value_of(joint.value_or(rows[0].bits))};
  std::vector<float> scales;
  for (const auto& row : rows) scales.push_back(value_of(row.bits));
  return scales;
}

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
  const BlockRows block_rows(format, packed);
  if (!block_rows.scale_of(0).shared) return std::nullopt;
  auto tiles = TernaryTiles::create_unfilled(packed.rows, packed.cols, form);
  if (!tiles) return fail_from(tiles);
  const TileSource source(packed.bytes,
                          row_of_blocks(zero_block(format), packed.cols / format.columns));
  const Repack repack{is_tq1 ? TernaryCodes::tq1_0 : TernaryCodes::tq2_0, source, *tiles};
  std::vector<RowScale> scales(packed.rows);
  std::atomic<bool> right = true;
  pool.for_range(packed.rows, quant::kPanelRows, [&](size_t first, size_t last) {
    for (size_t row = first; row < last; row += quant::kPanelRows) {
      const size_t panel = row / quant::kPanelRows;
      if (!repack.panels(panel, panel + 1)) right = false;
      for (size_t r = row; r < std::min(last, row + quant::kPanelRows); ++r) {
        scales[r] = block_rows.scale_of(r);
      }
    }
  });
  if (!right || !std::ranges::all_of(scales, &RowScale::finite)) {
    return fail_from(check_blocks(format, packed));
  }
  if (!std::ranges::all_of(scales, &RowScale::shared)) return std::nullopt;
  return TernaryWeights{*std::move(tiles), join_scales(scales, block_rows)};
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
