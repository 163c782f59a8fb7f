#pragma once
// Ternary weights ready for ternary_product, with their scales.

#include <vector>

#include "quant/ternary_tiles.hpp"

namespace trilobite::kernels {

struct TernaryWeights {
  quant::TernaryTiles tiles;
  std::vector<float> scales;  // [1], or [rows]
};

}  // namespace trilobite::kernels
