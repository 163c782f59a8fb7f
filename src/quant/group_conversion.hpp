#pragma once
// What becomes GroupTiles: f32 weights, rounded, and the GGUF blocks that have the same groups,
// exactly (docs/formats/group-tiles.md).

#include "quant/group_tiles.hpp"
#include "quant/matrix.hpp"

namespace trilobite::quant {

/// In each group the weight of largest magnitude becomes the lowest code (-8, -32 or -128), the
/// others the nearest one. Errors: a weight that is not finite, or so large that its scale is not.
Result<GroupTiles> quantize_groups(MatrixView weights, GroupBits bits);

/// The same values in 4 and in 8 bits. Columns must be whole blocks of 32. Errors: a wrong number
/// of bytes, a scale that is not finite.
Result<GroupTiles> group_tiles_from_q4_0(const QuantizedView& packed);
Result<GroupTiles> group_tiles_from_q8_0(const QuantizedView& packed);

}  // namespace trilobite::quant
