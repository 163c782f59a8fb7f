#pragma once
// Weights of the GGUF formats whose groups of 32 columns have more than one scale (q4_1, q4_k,
// q6_k), laid out for the product kernels with exactly the numbers of the file
// (docs/formats/block-tiles.md). As in GroupTiles every 32-bit lane of a vector belongs to one row,
// and a kernel reads memory strictly forwards.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/aligned_buffer.hpp"
#include "base/error.hpp"
#include "quant/group_layout.hpp"

namespace trilobite::quant {

enum class TiledBlocks : uint8_t { q4_1, q4_k, q6_k };
std::string_view name_of(TiledBlocks format);  // as quant/gguf_block.hpp has it

/// Headers, each of them for all 16 rows of a tile:
/// q4_1, group: d and m, f16. q4_k, super-block: d and dmin, f16; group: scales and minima, a byte
/// each. q6_k, super-block: d, f16; group: the scales of both halves of a row, int8.
/// 5.0, 4.625 and 6.5625 bits a weight.
constexpr GroupLayout layout_of(TiledBlocks format) {
  switch (format) {
    case TiledBlocks::q4_1:
      return {.super_groups = 1,
              .super_header = 0,
              .group_header = 2 * kTileScaleBytes,
              .code_bits = GroupBits::four};
    case TiledBlocks::q4_k:
      return {.super_groups = 8,
              .super_header = 2 * kTileScaleBytes,
              .group_header = 2 * kTileRows,
              .code_bits = GroupBits::four};
    case TiledBlocks::q6_k: break;
  }
  return {.super_groups = 8,
          .super_header = kTileScaleBytes,
          .group_header = 2 * kTileRows,
          .code_bits = GroupBits::six};
}

/// Packed weights of a rows x columns matrix. Rows are outputs, columns are inputs. The f16 numbers
/// are finite, and 0 in the padding of the last tile. Made by kernels/block_repack.hpp.
class BlockTiles {
 public:
  /// With bytes that mean nothing yet: whoever asks for it writes all of them, the padding too.
  /// Columns must be whole blocks of the format.
  static Result<BlockTiles> create_unfilled(size_t rows, size_t columns, TiledBlocks format);

  TiledBlocks format() const { return format_; }
  GroupLayout layout() const { return layout_of(format_); }
  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  size_t groups() const { return columns_ / kGroupColumns; }
  size_t padded_columns() const { return columns_; }
  size_t panels() const { return (rows_ + kPanelRows - 1) / kPanelRows; }
  /// 16-row tiles of a panel; only the last panel may have fewer than four.
  size_t tiles_of_panel(size_t panel) const;
  const uint8_t* panel(size_t index) const;
  uint8_t* panel(size_t index);
  size_t bytes() const { return data_.size(); }

  /// By the formula of the format, in f32.
  float weight_at(size_t row, size_t column) const;

 private:
  BlockTiles(AlignedBuffer data, size_t rows, size_t columns, TiledBlocks format)
      : data_(std::move(data)), rows_(rows), columns_(columns), format_(format) {}
  /// Code of a weight: 0 to 15, or -32 to 31.
  int code_at(size_t row, size_t column) const;

  AlignedBuffer data_;
  size_t rows_;
  size_t columns_;
  TiledBlocks format_;
};

}  // namespace trilobite::quant
