#pragma once
// Ternary weights laid out for the product kernels (docs/formats/ternary-tiles.md). The layout is
// the same on every machine; only the loops that read it differ.
//
// A tile is 16 rows. A block is 64 bytes of a tile: one 32-bit word per row, and in byte b of the
// word plane p holds the code of column 4 p + b. So one shift or multiplication
// gives a vector in which every 32-bit lane holds four neighbouring columns of its own row: it is
// multiplied by four broadcast activations and needs no sum across lanes.
// A panel is up to four tiles whose blocks alternate, so that a kernel reads memory strictly
// forwards.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/aligned_buffer.hpp"
#include "base/error.hpp"
#include "quant/ternary_packing.hpp"
#include "quant/tile_shape.hpp"

namespace trilobite::quant {

/// The sum of a row must fit 32 bits with room to spare: |code x| <= 2 * 128.
inline constexpr size_t kMaxTernaryColumns = size_t{1} << 22;

/// Codes in one byte: 2.0 or 1.6 bits a weight.
constexpr size_t planes_of(TernaryForm form) { return form == TernaryForm::two_bit ? 4 : 5; }
constexpr size_t columns_per_block(TernaryForm form) { return planes_of(form) * kQuad; }

/// The byte that holds `codes[0..planes)`, each 0, 1 or 2.
uint8_t pack_codes(TernaryForm form, const uint8_t* codes);
/// The code of plane `plane`.
uint8_t code_at(TernaryForm form, uint8_t byte, size_t plane);

/// Packed ternary weights of a rows x columns matrix. Rows are outputs, columns are inputs.
class TernaryTiles {
 public:
  /// `weights` are -1, 0 or 1, row by row; anything else is an error, as is a wrong count.
  static Result<TernaryTiles> pack(std::span<const int8_t> weights, size_t rows, size_t columns,
                                   TernaryForm form);
  /// Room for a matrix, with every weight 0.
  static Result<TernaryTiles> create(size_t rows, size_t columns, TernaryForm form);
  /// The same with bytes that mean nothing yet: whoever asks for it writes all of them, the padding
  /// too, and saves a pass over memory.
  static Result<TernaryTiles> create_unfilled(size_t rows, size_t columns, TernaryForm form);

  TernaryForm form() const { return form_; }
  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  size_t panels() const { return (rows_ + kPanelRows - 1) / kPanelRows; }
  /// 16-row tiles of a panel; only the last panel may have fewer than four.
  size_t tiles_of_panel(size_t panel) const;
  size_t blocks_per_row() const;
  /// Columns with the padding of the last block: activations must be readable up to here.
  size_t padded_columns() const { return blocks_per_row() * columns_per_block(form_); }
  const uint8_t* panel(size_t index) const;
  uint8_t* panel(size_t index);
  size_t bytes() const { return data_.size(); }

  int8_t weight_at(size_t row, size_t column) const;
  void set_weight(size_t row, size_t column, int8_t weight);

 private:
  TernaryTiles(AlignedBuffer data, size_t rows, size_t columns, TernaryForm form)
      : data_(std::move(data)), rows_(rows), columns_(columns), form_(form) {}
  struct Position {
    size_t byte;
    size_t plane;
  };
  Position position_of(size_t row, size_t column) const;

  AlignedBuffer data_;
  size_t rows_;
  size_t columns_;
  TernaryForm form_;
};

}  // namespace trilobite::quant
