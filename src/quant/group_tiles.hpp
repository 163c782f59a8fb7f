#pragma once
// Weights of 4, 6 or 8 bits with one f16 scale for every 32 columns of a row, laid out for the
// product kernels (docs/formats/group-tiles.md). The layout is the same on every machine; only the
// loops that read it differ.
//
// A group is 32 columns. For each group a panel holds the scales of all its rows and then their
// codes, unit by unit: a unit is as many columns as fill whole bytes of every row, and the units of
// the panel's tiles alternate. So a kernel reads memory strictly forwards, and as in TernaryTiles
// every 32-bit lane of a vector belongs to one row and needs no sum across lanes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/aligned_buffer.hpp"
#include "base/error.hpp"
#include "base/float16.hpp"
#include "quant/group_layout.hpp"

namespace trilobite::quant {

/// 32 neighbouring weights of a row; each is code * scale.
struct WeightGroup {
  Float16 scale;
  std::array<int8_t, kGroupColumns> codes{};
};

/// Packed weights of a rows x columns matrix. Rows are outputs, columns are inputs. Every scale is
/// finite; it may be negative or 0. Padding is weight 0.
class GroupTiles {
 public:
  /// Room for a matrix, with every weight 0.
  static Result<GroupTiles> create(size_t rows, size_t columns, GroupBits bits);
  /// The same with bytes that mean nothing yet: whoever asks for it writes all of them, the padding
  /// too, and saves a pass over memory.
  static Result<GroupTiles> create_unfilled(size_t rows, size_t columns, GroupBits bits);

  GroupBits bits() const { return bits_; }
  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  size_t groups() const { return (columns_ + kGroupColumns - 1) / kGroupColumns; }
  /// Columns with the padding of the last group: activations must be readable up to here.
  size_t padded_columns() const { return groups() * kGroupColumns; }
  size_t panels() const { return (rows_ + kPanelRows - 1) / kPanelRows; }
  /// 16-row tiles of a panel; only the last panel may have fewer than four.
  size_t tiles_of_panel(size_t panel) const;
  const uint8_t* panel(size_t index) const;
  uint8_t* panel(size_t index);
  size_t bytes() const { return data_.size(); }

  WeightGroup group_at(size_t row, size_t group) const;
  /// The scale must be finite and the codes those of bits(); codes beyond the last column must be
  /// 0.
  void set_group(size_t row, size_t group, const WeightGroup& weights);

 private:
  GroupTiles(AlignedBuffer data, size_t rows, size_t columns, GroupBits bits)
      : data_(std::move(data)), rows_(rows), columns_(columns), bits_(bits) {}
  /// Where the scale of a row and group is, where the word of its first unit, and how far apart its
  /// units are.
  struct Place {
    size_t scale;
    size_t codes;
    size_t unit_stride;
  };
  Place place_of(size_t row, size_t group) const;

  AlignedBuffer data_;
  size_t rows_;
  size_t columns_;
  GroupBits bits_;
};

}  // namespace trilobite::quant
