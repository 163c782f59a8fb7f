#include "quant/group_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "quant/byte_order.hpp"

namespace trilobite::quant {
namespace {

constexpr size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

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
  if (groups != 0 && tiles > SIZE_MAX / layout_of(bits).group_bytes() / groups) {
    return fail(fmt::format("a matrix of {}-bit groups of {} x {} is too large",
                            static_cast<int>(bits), rows, columns));
  }
  auto data = AlignedBuffer::allocate(tiles * groups * layout_of(bits).group_bytes());
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
         index * kTilesPerPanel * groups() * layout_of(bits_).group_bytes();
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
      (panel_index * kTilesPerPanel * groups() + group * tiles) * layout_of(bits_).group_bytes();
  return {
      .scale = group_start + tile * kTileScaleBytes + row % kTileRows * sizeof(Float16),
      .codes = group_start + tiles * kTileScaleBytes + tile * unit_bytes + row % kTileRows * kQuad,
      .unit_stride = tiles * unit_bytes};
}

WeightGroup GroupTiles::group_at(size_t row, size_t group) const {
  const auto place = place_of(row, group);
  WeightGroup weights{.scale = load_bytes<Float16>(panel(0) + place.scale)};
  for (size_t c = 0, at = place.codes; c < kGroupColumns; c += unit_columns(bits_)) {
    read_unit(bits_, panel(0) + at, weights.codes.data() + c);
    at += place.unit_stride;
  }
  return weights;
}

void GroupTiles::set_group(size_t row, size_t group, const WeightGroup& weights) {
  TRILOBITE_CHECK(row < rows_ && group < groups());
  TRILOBITE_CHECK(std::isfinite(weights.scale.to_float()) && are_codes_of(bits_, weights));
  const auto place = place_of(row, group);
  store_bytes(panel(0) + place.scale, weights.scale);
  for (size_t c = 0, at = place.codes; c < kGroupColumns; c += unit_columns(bits_)) {
    write_unit(bits_, weights.codes.data() + c, panel(0) + at);
    at += place.unit_stride;
  }
}

}  // namespace trilobite::quant
