#pragma once
// I2_S, bitnet.cpp's ternary tensor: 2-bit codes (w + 1), then one f32 scale, then 28 bytes that
// mean nothing. The file does not say in which order the codes are; that hangs on how the writer
// was compiled. docs/formats/i2_s.md has the three orders, quant/i2s_layout_guess.hpp looks for
// signs.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "quant/bitnet.hpp"

namespace trilobite::quant {

/// In each, a byte holds four codes, the first in its highest two bits, the next three one stride
/// further each.
enum class I2sLayout {
  x86_block128,   ///< 32 bytes hold 128 neighbours of one row, stride 32
  x86_four_rows,  ///< `cols` bytes hold four rows, stride one row
  arm_block64     ///< 16 bytes hold 64 neighbours of one row, stride 16
};

/// The commonest first.
inline constexpr std::array kI2sLayouts{I2sLayout::x86_block128, I2sLayout::x86_four_rows,
                                        I2sLayout::arm_block64};

std::string_view name_of(I2sLayout layout);

/// After the codes: the scale and its padding.
inline constexpr size_t kI2sTailBytes = 32;
/// The writer takes weights below this for zero and all others for +-1.
inline constexpr double kI2sZeroBelow = 1e-6;

/// Whether a matrix of this shape can have this layout; the error names the block size.
Result<void> check_i2s_shape(I2sLayout layout, size_t rows, size_t cols);

/// The codes as bitnet.cpp's writer chooses them: the sign of each weight, 0 below kI2sZeroBelow;
/// the scale is the largest magnitude. It is meant for weights that are ternary already.
TernaryMatrix quantize_by_sign(MatrixView weights);

/// Codes and tail (the 28 spare bytes are written as 0). The shape must fit, the scale be one.
std::vector<uint8_t> pack_i2s(const TernaryMatrix& ternary, I2sLayout layout);

/// The scale at the end of a tensor whose shape and byte count are right; else the error.
Result<float> i2s_scale(I2sLayout layout, const QuantizedView& packed);

/// An error names the byte count that there should be, the first code 3, or a scale that is
/// negative or not finite.
Result<TernaryMatrix> unpack_i2s(I2sLayout layout, const QuantizedView& packed);

/// The codes of one row as -1, 0 and 1, whatever the scale; shape and byte count must be right.
/// Allocates nothing. Code 3 is 2.
void unpack_i2s_row(I2sLayout layout, const QuantizedView& packed, size_t row,
                    std::span<float> codes);

}  // namespace trilobite::quant
