#pragma once
// f32 weights rounded to GroupTiles (docs/formats/group-tiles.md). What holds the same groups in a
// file becomes GroupTiles in kernels/group_repack.hpp.

#include "quant/group_tiles.hpp"
#include "quant/matrix.hpp"

namespace trilobite::quant {

/// In each group the weight of largest magnitude becomes the lowest code (-8, -32 or -128), the
/// others the nearest one. Errors: a weight that is not finite, or so large that its scale is not.
Result<GroupTiles> quantize_groups(MatrixView weights, GroupBits bits);

}  // namespace trilobite::quant
