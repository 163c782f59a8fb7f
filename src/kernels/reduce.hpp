#pragma once
// Sums of dense arrays of f32, f16 or bf16.

#include <cstddef>

#include "tensor/dtype.hpp"

namespace trilobite::kernels {

inline constexpr size_t kSumBlock = 4096;

/// block_sums[i] = sum of elements [i kSumBlock, (i + 1) kSumBlock), the last block being shorter.
/// |error| <= 70 * 2^-24 sum |x| in each, the same bits on every instruction set. Adding the
/// blocks in double, in their order, gives a total that does not depend on who summed which block.
struct SumBlocksCall {
  DType dtype;
  const void* x;
  size_t count;
  double* block_sums;
};
void sum_blocks(const SumBlocksCall& call);

}  // namespace trilobite::kernels
