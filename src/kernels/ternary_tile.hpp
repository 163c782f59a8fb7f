#pragma once
// One tile of packed ternary weights as files have them, turned into blocks of TernaryTiles: the
// inner loops of kernels/ternary_repack.hpp and kernels/group_repack.hpp.

#include "kernels/tile_source.hpp"

namespace trilobite::kernels {

/// Which weights share a byte (docs/formats/gguf-blocks.md and i2_s.md). `columns` are whole source
/// blocks except in four_rows, where a source row is the bytes of four rows of the matrix.
enum class TernaryCodes { tq1_0, tq2_0, i2s_block128, i2s_four_rows, i2s_block64 };

/// Writes the 2-bit blocks of all columns. False when there is a code 3.
bool two_bit_tile(TernaryCodes codes, const TileRows& rows, size_t columns, TileBlocks out);

/// Two-bit blocks, 64 bytes apart, to `count` blocks of five trits a byte. Blocks up to the last
/// column of the last of them are read.
void trits_from_two_bits(const uint8_t* two_bits, size_t count, TileBlocks out);

}  // namespace trilobite::kernels
