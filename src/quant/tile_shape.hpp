#pragma once
// What the weight layouts of the product kernels have in common: rows come in tiles, up to four
// tiles are interleaved to a panel, and neighbouring columns of a row come in quads.

#include <cstddef>

namespace trilobite::quant {

inline constexpr size_t kTileRows = 16;
inline constexpr size_t kTilesPerPanel = 4;
inline constexpr size_t kPanelRows = kTileRows * kTilesPerPanel;
/// Neighbouring columns in one 32-bit lane.
inline constexpr size_t kQuad = 4;
/// One 32-bit word for each row of a tile.
inline constexpr size_t kTileBlockBytes = kTileRows * kQuad;

}  // namespace trilobite::quant
