#pragma once
// int8 and int4 with f32 scales: symmetric (w = q * scale) and asymmetric (w = (q - zero) * scale),
// one scale for the matrix, for each row, or for each group of neighbours in a row.
// docs/formats/integers.md has the bytes.

#include <cstdint>
#include <span>

#include "quant/matrix.hpp"

namespace trilobite::quant {

/// What shares one scale.
enum class AffineSpan { tensor, channel, group };

struct AffineRule {
  unsigned bits = 8;  // 8 or 4
  bool symmetric = true;
  AffineSpan span = AffineSpan::tensor;
  size_t group_size = 0;  // columns of a group; the last group of a row may be shorter
};

StoredSize affine_size(const AffineRule& rule, size_t rows, size_t cols);

/// Fills bytes, scales and zero points of `packed`, which have their sizes already. The weights
/// must be finite and so small that max - min does not overflow.
void quantize_affine(const AffineRule& rule, MatrixView weights, QuantizedMatrix& packed);

/// The sizes must be right and the scales finite; a zero point that no code can have is an error.
Result<void> dequantize_affine(const AffineRule& rule, const QuantizedView& packed,
                               std::span<float> values);

}  // namespace trilobite::quant
