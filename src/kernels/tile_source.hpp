#pragma once
// The rows of a packed matrix, a tile at a time: what the kernels that turn file tensors into tiles
// read from. The bytes belong to somebody else (a mapped file) and need no alignment.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_pool.hpp"
#include "quant/tile_shape.hpp"

namespace trilobite::kernels {

/// One tile. Rows beyond the last one are a row of weights 0.
struct TileRows {
  std::array<const uint8_t*, quant::kTileRows> row{};
  /// As many bytes as the tile has, to be fetched while it is converted: the next tile.
  const uint8_t* ahead = nullptr;
};

/// Where the 64-byte blocks of a tile go.
struct TileBlocks {
  uint8_t* first;
  size_t stride;
};

class TileSource {
 public:
  /// `bytes` are whole rows of `zero_row.size()` bytes each. Where packed rows hold several rows of
  /// the matrix, a tile has fewer than 16.
  TileSource(std::span<const uint8_t> bytes, std::vector<uint8_t> zero_row,
             size_t rows_of_tile = quant::kTileRows)
      : bytes_(bytes), zero_row_(std::move(zero_row)), rows_of_tile_(rows_of_tile) {}

  TileRows tile(size_t index) const {
    const size_t tile_bytes = rows_of_tile_ * zero_row_.size();
    TileRows rows;
    for (size_t r = 0; r < rows_of_tile_; ++r) {
      const size_t at = index * tile_bytes + r * zero_row_.size();
      rows.row[r] = at < bytes_.size() ? bytes_.data() + at : zero_row_.data();
    }
    const bool goes_on = bytes_.size() >= (index + 2) * tile_bytes;
    rows.ahead = rows.row[0] + (goes_on ? tile_bytes : 0);
    return rows;
  }

 private:
  std::span<const uint8_t> bytes_;
  std::vector<uint8_t> zero_row_;
  size_t rows_of_tile_;
};

/// Calls convert(panel, tile of the panel) for every tile, panels shared among threads.
template <class Tiles, class Convert>
void for_each_tile(const Tiles& tiles, ThreadPool& pool, const Convert& convert) {
  pool.for_range(tiles.panels(), 1, [&](size_t first, size_t last) {
    for (size_t panel = first; panel < last; ++panel) {
      for (size_t t = 0; t < tiles.tiles_of_panel(panel); ++t) convert(panel, t);
    }
  });
}

/// A row of `count` equal blocks.
inline std::vector<uint8_t> row_of_blocks(std::span<const uint8_t> block, size_t count) {
  std::vector<uint8_t> row;
  row.reserve(count * block.size());
  for (size_t i = 0; i < count; ++i) row.insert(row.end(), block.begin(), block.end());
  return row;
}

}  // namespace trilobite::kernels
