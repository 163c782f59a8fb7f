#pragma once
// One row times a matrix. Every element of the matrix is used once, so memory sets the pace and
// packing it first would double the work.

#include <cstddef>

#include "tensor/dtype.hpp"

namespace trilobite::kernels {

/// out[n] = sum over k of x[k] b[k, n], sums in f32. Needs row_stride == 1 or column_stride == 1.
/// Columns are independent: threads may share them out in any way.
struct GemvCall {
  DType dtype;     // of b and out
  const float* x;  // [k]
  const void* b;   // [k, n]
  ptrdiff_t row_stride;
  ptrdiff_t column_stride;
  size_t k;
  size_t n;
  void* out;  // [n]
};
void gemv(const GemvCall& call);

}  // namespace trilobite::kernels
