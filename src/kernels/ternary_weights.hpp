#pragma once
// Ternary weights ready for ternary_product, with their scales.

#include <vector>

#include "quant/ternary_tiles.hpp"

namespace trilobite::kernels {

struct TernaryWeights {
  quant::TernaryTiles tiles;
  std::vector<float> scales;  // [1], or [rows]

  size_t rows() const { return tiles.rows(); }
  size_t columns() const { return tiles.columns(); }
  size_t bytes() const { return tiles.bytes() + scales.size() * sizeof(float); }
};

}  // namespace trilobite::kernels
