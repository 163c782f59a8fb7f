#include "quant/group_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "quant/byte_order.hpp"

namespace trilobite::quant {
namespace {

constexpr size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

// The codes of a unit of one row. `word` is the first of the row's words; the others are a block
// further each. In every format byte b of a word belongs to columns b, b + 4, ... of the unit.
using WriteUnit = void (*)(const int8_t* codes, uint8_t* word);
using ReadUnit = void (*)(const uint8_t* word, int8_t* codes);

/// Code + 8: the first quad in the low, the second in the high nibbles.
void write_four_bits(const int8_t* codes, uint8_t* word) {
  for (size_t b = 0; b < kQuad; ++b) {
    word[b] = static_cast<uint8_t>((codes[b] + 8) | (codes[b + kQuad] + 8) << 4);
  }
}
void read_four_bits(const uint8_t* word, int8_t* codes) {
  for (size_t b = 0; b < kQuad; ++b) {
    codes[b] = static_cast<int8_t>((word[b] & 15) - 8);
    codes[b + kQuad] = static_cast<int8_t>((word[b] >> 4) - 8);
  }
}

/// Code + 32: the first three quads in the low six bits of the three words. The fourth is spread
/// over the bits above them, lowest two bits first: three of four quads decode with one mask.
void write_six_bits(const int8_t* codes, uint8_t* word) {
  for (size_t b = 0; b < kQuad; ++b) {
    const int spread = codes[b + 3 * kQuad] + 32;
    for (size_t block = 0; block < 3; ++block) {
      const int part = spread >> (2 * block) & 3;
      word[block * kTileBlockBytes + b] =
          static_cast<uint8_t>((codes[b + block * kQuad] + 32) | part << 6);
    }
  }
}
void read_six_bits(const uint8_t* word, int8_t* codes) {
  for (size_t b = 0; b < kQuad; ++b) {
    int spread = 0;
    for (size_t block = 0; block < 3; ++block) {
      const int byte = word[block * kTileBlockBytes + b];
      codes[b + block * kQuad] = static_cast<int8_t>((byte & 63) - 32);
      spread |= byte >> 6 << (2 * block);
    }
    codes[b + 3 * kQuad] = static_cast<int8_t>(spread - 32);
  }
}

/// Two's complement, a word for each quad.
void write_eight_bits(const int8_t* codes, uint8_t* word) {
  std::copy_n(codes, kQuad, word);
  std::copy_n(codes + kQuad, kQuad, word + kTileBlockBytes);
}
void read_eight_bits(const uint8_t* word, int8_t* codes) {
  std::copy_n(word, kQuad, codes);
  std::copy_n(word + kTileBlockBytes, kQuad, codes + kQuad);
}

WriteUnit writer_of(GroupBits bits) {
  if (bits == GroupBits::four) return write_four_bits;
  return bits == GroupBits::six ? write_six_bits : write_eight_bits;
}
ReadUnit reader_of(GroupBits bits) {
  if (bits == GroupBits::four) return read_four_bits;
  return bits == GroupBits::six ? read_six_bits : read_eight_bits;
}

bool are_codes_of(GroupBits bits, const WeightGroup& weights) {
  const int half = half_range(bits);
  return std::ranges::all_of(weights.codes, [=](int code) { return code >= -half && code < half; });
}

}  // namespace

Result<GroupTiles> GroupTiles::create_unfilled(size_t rows, size_t columns, GroupBits bits) {
  if (columns > kMaxGroupedColumns) {
    return fail(fmt::format("a matrix of {}-bit groups may have at most {} columns, not {}",
                            static_cast<int>(bits), kMaxGroupedColumns, columns));
  }
  const size_t groups = ceil_div(columns, kGroupColumns);
  const size_t tiles = rows / kTileRows + (rows % kTileRows != 0 ? 1 : 0);
  if (groups != 0 && tiles > SIZE_MAX / tile_group_bytes(bits) / groups) {
    return fail(fmt::format("a matrix of {}-bit groups of {} x {} is too large",
                            static_cast<int>(bits), rows, columns));
  }
  auto data = AlignedBuffer::allocate(tiles * groups * tile_group_bytes(bits));
  if (!data) return fail_from(data);
  return GroupTiles(*std::move(data), rows, columns, bits);
}

Result<GroupTiles> GroupTiles::create(size_t rows, size_t columns, GroupBits bits) {
  auto tiles = create_unfilled(rows, columns, bits);
  // A scale of 0 makes every weight 0, whatever the codes are.
  if (tiles) std::ranges::fill(tiles->data_.bytes(), std::byte{0});
  return tiles;
}

size_t GroupTiles::tiles_of_panel(size_t panel) const {
  return std::min(kTilesPerPanel, ceil_div(rows_, kTileRows) - panel * kTilesPerPanel);
}

// All panels before the last one have four tiles.
const uint8_t* GroupTiles::panel(size_t index) const {
  return reinterpret_cast<const uint8_t*>(data_.data()) +
         index * kTilesPerPanel * groups() * tile_group_bytes(bits_);
}

uint8_t* GroupTiles::panel(size_t index) {
  return const_cast<uint8_t*>(std::as_const(*this).panel(index));
}

GroupTiles::Place GroupTiles::place_of(size_t row, size_t group) const {
  const size_t panel_index = row / kPanelRows;
  const size_t tiles = tiles_of_panel(panel_index);
  const size_t tile = row / kTileRows % kTilesPerPanel;
  const size_t unit_bytes = unit_blocks(bits_) * kTileBlockBytes;
  const size_t group_start =
      (panel_index * kTilesPerPanel * groups() + group * tiles) * tile_group_bytes(bits_);
  return {
      .scale = group_start + tile * kTileScaleBytes + row % kTileRows * sizeof(Float16),
      .codes = group_start + tiles * kTileScaleBytes + tile * unit_bytes + row % kTileRows * kQuad,
      .unit_stride = tiles * unit_bytes};
}

WeightGroup GroupTiles::group_at(size_t row, size_t group) const {
  const auto place = place_of(row, group);
  WeightGroup weights{.scale = load_bytes<Float16>(panel(0) + place.scale)};
  const auto read = reader_of(bits_);
  for (size_t c = 0, at = place.codes; c < kGroupColumns; c += unit_columns(bits_)) {
    read(panel(0) + at, weights.codes.data() + c);
    at += place.unit_stride;
  }
  return weights;
}

void GroupTiles::set_group(size_t row, size_t group, const WeightGroup& weights) {
  TRILOBITE_CHECK(row < rows_ && group < groups());
  TRILOBITE_CHECK(std::isfinite(weights.scale.to_float()) && are_codes_of(bits_, weights));
  const auto place = place_of(row, group);
  store_bytes(panel(0) + place.scale, weights.scale);
  const auto write = writer_of(bits_);
  for (size_t c = 0, at = place.codes; c < kGroupColumns; c += unit_columns(bits_)) {
    write(weights.codes.data() + c, panel(0) + at);
    at += place.unit_stride;
  }
}

}  // namespace trilobite::quant
