#pragma once
// Weights of 4, 6 or 8 bits in groups times int8 activations in groups: the product of the output
// head, and of every matrix that does not bear fewer bits.

#include <cstddef>
#include <cstdint>

#include "quant/group_tiles.hpp"

namespace trilobite::kernels {

/// Activations of some tokens as int8 codes within [-127, 127]; each is code * scale of its group
/// (quantize_absmax_groups makes them).
struct Int8Groups {
  const int8_t* codes;  // [tokens][stride], zero from the last column up to the padded columns
  size_t stride;        // at least the weights' padded columns
  size_t tokens;
  const float* scales;  // [tokens][groups]
  const int32_t* sums;  // [tokens][groups], of the codes
  /// [tokens][groups]: the sums over columns 0 to 15 (low 16 bits) and 16 to 31 of a group; for
  /// weights whose halves have scales of their own (q6_k), null for others.
  const int32_t* half_sums = nullptr;
};

/// A stride for `columns` activations that a product of many tokens reads fast: rows whose distance
/// is a multiple of 4096 bytes contend for the same places of the first cache (half the speed).
constexpr size_t activation_stride(size_t columns) {
  const size_t whole = (columns + 63) / 64 * 64;
  return whole % 512 == 0 ? whole + 64 : whole;
}

/// out[token][row] = sum over groups of (sum over columns of code * code) * scale of the weights *
/// scale of the activations. The inner sum is exact. The factors are multiplied in f32, in that
/// order, and added group after group: the result has the same bits everywhere.
struct GroupCall {
  const quant::GroupTiles& weights;
  Int8Groups x;
  float* out = nullptr;
  size_t out_stride = 0;
};

/// Computes the rows of panels [first, last) for all tokens. Panels are independent: threads may
/// share them out in any way, and the result does not depend on it.
void group_product(const GroupCall& call, size_t first_panel, size_t last_panel);

}  // namespace trilobite::kernels
