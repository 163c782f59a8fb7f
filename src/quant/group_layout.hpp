#pragma once
// What the layouts of weights in groups of 32 columns have in common: GroupTiles and BlockTiles.

#include <cstddef>
#include <cstdint>

#include "base/float16.hpp"
#include "quant/tile_shape.hpp"

namespace trilobite::quant {

inline constexpr size_t kGroupColumns = 32;
inline constexpr size_t kGroupQuads = kGroupColumns / kQuad;
/// The scales of one tile and one group.
inline constexpr size_t kTileScaleBytes = kTileRows * sizeof(Float16);
/// The kernels add up 32-bit sums of groups in f32; the bound keeps addresses small.
inline constexpr size_t kMaxGroupedColumns = size_t{1} << 22;

enum class GroupBits : uint8_t { four = 4, six = 6, eight = 8 };

/// Codes are signed integers in [-half, half).
constexpr int half_range(GroupBits bits) { return 1 << (static_cast<int>(bits) - 1); }
/// Columns of a unit, and 64-byte blocks of it in each tile: 8 in 1, 16 in 3, 8 in 2.
constexpr size_t unit_columns(GroupBits bits) { return bits == GroupBits::six ? 16 : 8; }
constexpr size_t unit_blocks(GroupBits bits) {
  return unit_columns(bits) * static_cast<size_t>(bits) / 32;
}
/// Bytes of the codes of one tile and one group.
constexpr size_t tile_code_bytes(GroupBits bits) {
  return kTileRows * kGroupColumns * static_cast<size_t>(bits) / 8;
}

/// How a panel is put together: super-blocks one after the other, each a header and its groups,
/// each of which is a header and codes. Headers are given in bytes of one tile; a panel has them
/// for all its tiles, and then what follows.
struct GroupLayout {
  size_t super_groups;
  size_t super_header;
  size_t group_header;
  GroupBits code_bits;

  constexpr size_t group_bytes() const { return group_header + tile_code_bytes(code_bits); }
  constexpr size_t super_bytes() const { return super_header + super_groups * group_bytes(); }
  constexpr size_t tile_bytes(size_t groups) const { return groups / super_groups * super_bytes(); }
  /// From the start of a panel of so many tiles.
  constexpr size_t super_at(size_t group, size_t tiles) const {
    return group / super_groups * tiles * super_bytes();
  }
  constexpr size_t group_at(size_t group, size_t tiles) const {
    return super_at(group, tiles) + tiles * (super_header + group % super_groups * group_bytes());
  }
};

/// Of GroupTiles: 288, 416 or 544 bytes a group, that is 4.5, 6.5 or 8.5 bits a weight.
constexpr GroupLayout layout_of(GroupBits bits) {
  return {.super_groups = 1, .super_header = 0, .group_header = kTileScaleBytes, .code_bits = bits};
}

/// The codes of a unit of one row, each within [-half, half). `word` is the first of the row's
/// words; the others are a block further each.
void write_unit(GroupBits bits, const int8_t* codes, uint8_t* word);
void read_unit(GroupBits bits, const uint8_t* word, int8_t* codes);

}  // namespace trilobite::quant
