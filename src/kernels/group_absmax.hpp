#pragma once
// Activations to int8 with a scale for every 32 columns: the other operand of group_product.

#include <cstddef>
#include <cstdint>

namespace trilobite::kernels {

/// For each group of 32 columns, with m the largest |x| in it (at least 2^-100):
/// codes[i] = round(x[i] * (127 / m)), ties to even, so within [-127, 127]; scale = m / 127; and
/// the sum of the codes. The last group is filled up with zeros.
struct GroupAbsmaxCall {
  const float* x;
  size_t columns;
  int8_t* codes;                 // [groups * 32]
  float* scales;                 // [groups]
  int32_t* sums;                 // [groups]
  int32_t* half_sums = nullptr;  // [groups], as Int8Groups has them; null: not wanted
};
/// False when there is NaN or infinity; then what was written means nothing.
bool quantize_absmax_groups(const GroupAbsmaxCall& call);

}  // namespace trilobite::kernels
