#pragma once
// f32 activations times f32, f16 or bf16 weights where they lie, row by row: for few tokens, where
// memory sets the pace and packing the weights first would double the work.

#include <cstddef>

#include "tensor/dtype.hpp"

namespace trilobite::kernels {

/// out[token][row] = sum over columns of x[token][column] * weights[row][column], in f32.
/// |error| <= (columns / 8 + 8) 2^-24 sum |x||w|.
struct DenseCall {
  DType dtype;          // of the weights
  const void* weights;  // [rows][columns]
  size_t rows;
  size_t columns;
  const float* x;  // [tokens][columns]
  size_t tokens;
  float* out;  // [tokens][out_stride]
  size_t out_stride;
};

/// Rows [first, last) for all tokens. Rows are independent: threads may share them out in any way,
/// and the result does not depend on it.
void dense_product(const DenseCall& call, size_t first, size_t last);

}  // namespace trilobite::kernels
