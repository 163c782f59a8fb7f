#include "quant/block_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "quant/byte_order.hpp"

namespace trilobite::quant {
namespace {

constexpr size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

}  // namespace

std::string_view name_of(TiledBlocks format) {
  switch (format) {
    case TiledBlocks::q4_1: return "q4_1";
    case TiledBlocks::q4_k: return "q4_k";
    case TiledBlocks::q6_k: return "q6_k";
  }
  return "";
}

Result<BlockTiles> BlockTiles::create_unfilled(size_t rows, size_t columns, TiledBlocks format) {
  const auto layout = layout_of(format);
  const size_t block = layout.super_groups * kGroupColumns;
  if (columns > kMaxGroupedColumns || columns % block != 0) {
    return fail(fmt::format("a {} matrix has whole blocks of {} and at most {} columns, not {}",
                            name_of(format), block, kMaxGroupedColumns, columns));
  }
  const size_t groups = columns / kGroupColumns;
  const size_t tiles = rows / kTileRows + (rows % kTileRows != 0 ? 1 : 0);
  if (groups != 0 && tiles > SIZE_MAX / layout.tile_bytes(groups)) {
    return fail(fmt::format("a {} matrix of {} x {} is too large", name_of(format), rows, columns));
  }
  auto data = AlignedBuffer::allocate(tiles * layout.tile_bytes(groups));
  if (!data) return fail_from(data);
  return BlockTiles(*std::move(data), rows, columns, format);
}

size_t BlockTiles::tiles_of_panel(size_t panel) const {
  return std::min(kTilesPerPanel, ceil_div(rows_, kTileRows) - panel * kTilesPerPanel);
}

// All panels before the last one have four tiles.
const uint8_t* BlockTiles::panel(size_t index) const {
  return reinterpret_cast<const uint8_t*>(data_.data()) +
         index * kTilesPerPanel * layout().tile_bytes(groups());
}
uint8_t* BlockTiles::panel(size_t index) {
  return const_cast<uint8_t*>(std::as_const(*this).panel(index));
}

int BlockTiles::code_at(size_t row, size_t column) const {
  const size_t index = row / kPanelRows;
  const size_t tiles = tiles_of_panel(index);
  const auto bits = layout().code_bits;
  const size_t unit_bytes = unit_blocks(bits) * kTileBlockBytes;
  const size_t unit = column % kGroupColumns / unit_columns(bits);
  const size_t at =
      layout().group_at(column / kGroupColumns, tiles) + tiles * layout().group_header +
      (unit * tiles + row / kTileRows % kTilesPerPanel) * unit_bytes + row % kTileRows * kQuad;
  std::array<int8_t, 16> codes;
  read_unit(bits, panel(index) + at, codes.data());
  const int code = codes[column % unit_columns(bits)];
  return bits == GroupBits::four ? code + half_range(bits) : code;
}

float BlockTiles::weight_at(size_t row, size_t column) const {
  const size_t tiles = tiles_of_panel(row / kPanelRows);
  const size_t group = column / kGroupColumns;
  const size_t inside = row % kPanelRows;
  const uint8_t* super = panel(row / kPanelRows) + layout().super_at(group, tiles);
  const uint8_t* header = panel(row / kPanelRows) + layout().group_at(group, tiles);
  const auto f16 = [&](const uint8_t* from, size_t which) {
    return load_f16(from + which * tiles * kTileScaleBytes + inside * sizeof(Float16));
  };
  const auto code = static_cast<float>(code_at(row, column));
  switch (format_) {
    case TiledBlocks::q4_1: return code * f16(header, 0) + f16(header, 1);
    case TiledBlocks::q4_k: {
      const float step = f16(super, 0) * static_cast<float>(header[inside]);
      return step * code - f16(super, 1) * static_cast<float>(header[tiles * kTileRows + inside]);
    }
    case TiledBlocks::q6_k: {
      const size_t half = column % kGroupColumns / 16;
      return f16(super, 0) * static_cast<float>(static_cast<int8_t>(header[2 * inside + half])) *
             code;
    }
  }
  return 0;
}

}  // namespace trilobite::quant
