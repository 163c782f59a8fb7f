#include "quant/ternary_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace trilobite::quant {
namespace {

constexpr size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

constexpr std::array<unsigned, 5> kPlaces{81, 27, 9, 3, 1};

// Plane 0 is the leading digit: with AVX-512 VBMI two comparisons take it off, and what is left is
// below 81, small enough for one table of 128 bytes.
uint8_t pack_trits(const uint8_t* codes) {
  unsigned value = 0;
  for (size_t plane = 0; plane < 5; ++plane) value += codes[plane] * kPlaces[plane];
  return static_cast<uint8_t>(value);
}

uint8_t trit_at(uint8_t byte, size_t plane) {
  return static_cast<uint8_t>(byte / kPlaces[plane] % 3);
}

}  // namespace

uint8_t pack_codes(TernaryForm form, const uint8_t* codes) {
  if (form == TernaryForm::five_trits_a_byte) return pack_trits(codes);
  return static_cast<uint8_t>(codes[0] | codes[1] << 2 | codes[2] << 4 | codes[3] << 6);
}

uint8_t code_at(TernaryForm form, uint8_t byte, size_t plane) {
  if (form == TernaryForm::five_trits_a_byte) return trit_at(byte, plane);
  return static_cast<uint8_t>(byte >> (2 * plane) & 3);
}

Result<TernaryTiles> TernaryTiles::create_unfilled(size_t rows, size_t columns, TernaryForm form) {
  if (columns > kMaxTernaryColumns) {
    return fail(fmt::format("a ternary matrix may have at most {} columns, not {}",
                            kMaxTernaryColumns, columns));
  }
  const size_t blocks = ceil_div(columns, columns_per_block(form));
  const size_t tiles = ceil_div(rows, kTileRows);
  if (blocks != 0 && tiles > SIZE_MAX / kTileBlockBytes / blocks) {
    return fail(fmt::format("a ternary matrix of {} x {} is too large", rows, columns));
  }
  auto data = AlignedBuffer::allocate(tiles * blocks * kTileBlockBytes);
  if (!data) return fail_from(data);
  return TernaryTiles(*std::move(data), rows, columns, form);
}

Result<TernaryTiles> TernaryTiles::create(size_t rows, size_t columns, TernaryForm form) {
  auto tiles = create_unfilled(rows, columns, form);
  if (!tiles) return tiles;
  constexpr std::array<uint8_t, 5> kZeroWeights{1, 1, 1, 1, 1};
  std::ranges::fill(tiles->data_.bytes(), std::byte{pack_codes(form, kZeroWeights.data())});
  return tiles;
}

Result<TernaryTiles> TernaryTiles::pack(std::span<const int8_t> weights, size_t rows,
                                        size_t columns, TernaryForm form) {
  auto tiles = create(rows, columns, form);
  if (!tiles) return tiles;
  if (weights.size() != rows * columns) {
    return fail(fmt::format("a ternary matrix of {} x {} needs {} weights, not {}", rows, columns,
                            rows * columns, weights.size()));
  }
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const int8_t weight = weights[row * columns + column];
      if (weight < -1 || weight > 1) {
        return fail(
            fmt::format("weight {} in row {}, column {} is not -1, 0 or 1", weight, row, column));
      }
      tiles->set_weight(row, column, weight);
    }
  }
  return tiles;
}

size_t TernaryTiles::tiles_of_panel(size_t panel) const {
  return std::min(kTilesPerPanel, ceil_div(rows_, kTileRows) - panel * kTilesPerPanel);
}

size_t TernaryTiles::blocks_per_row() const { return ceil_div(columns_, columns_per_block(form_)); }

// All panels before the last one have four tiles.
const uint8_t* TernaryTiles::panel(size_t index) const {
  return reinterpret_cast<const uint8_t*>(data_.data()) +
         index * kTilesPerPanel * blocks_per_row() * kTileBlockBytes;
}
uint8_t* TernaryTiles::panel(size_t index) {
  return const_cast<uint8_t*>(std::as_const(*this).panel(index));
}

TernaryTiles::Position TernaryTiles::position_of(size_t row, size_t column) const {
  const size_t panel_index = row / kPanelRows;
  const size_t tile = row / kTileRows % kTilesPerPanel;
  const size_t block = column / columns_per_block(form_);
  const size_t inside = column % columns_per_block(form_);
  const size_t panel_start = panel_index * kTilesPerPanel * blocks_per_row() * kTileBlockBytes;
  return {.byte = panel_start + (block * tiles_of_panel(panel_index) + tile) * kTileBlockBytes +
                  row % kTileRows * kQuad + inside % kQuad,
          .plane = inside / kQuad};
}

int8_t TernaryTiles::weight_at(size_t row, size_t column) const {
  const auto [byte, plane] = position_of(row, column);
  return static_cast<int8_t>(code_at(form_, panel(0)[byte], plane) - 1);
}

void TernaryTiles::set_weight(size_t row, size_t column, int8_t weight) {
  const auto [byte, plane] = position_of(row, column);
  std::array<uint8_t, 5> codes{};
  for (size_t p = 0; p < planes_of(form_); ++p) codes[p] = code_at(form_, panel(0)[byte], p);
  codes[plane] = static_cast<uint8_t>(weight + 1);
  panel(0)[byte] = pack_codes(form_, codes.data());
}

}  // namespace trilobite::quant
