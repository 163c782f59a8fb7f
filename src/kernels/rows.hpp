#pragma once
// Operations on each row of a dense matrix of f32, f16 or bf16: softmax, rmsnorm, layernorm.
// Computed in f32, rounded once. Rows are independent: threads may share them out in any way.

#include <cstddef>

#include "tensor/dtype.hpp"

namespace trilobite::kernels {

/// exp(x - max) / sum of those. A row with NaN or +inf, or of -inf alone, becomes NaN.
/// |error| <= (4 + |x - max|) 2^-23 relative.
struct SoftmaxCall {
  DType dtype;
  const void* x;  // [rows, columns]
  void* out;      // [rows, columns]
  size_t rows;
  size_t columns;
};
void softmax(const SoftmaxCall& call);

/// rmsnorm: x / sqrt(mean(x^2) + epsilon) * weight.
/// layernorm: (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * weight + bias, in two passes.
struct NormCall {
  DType dtype;
  const void* x;       // [rows, columns]
  const void* weight;  // [columns]
  const void* bias;    // [columns]; layernorm only
  void* out;           // [rows, columns]
  size_t rows;
  size_t columns;
  float epsilon;
};
void rmsnorm(const NormCall& call);
void layernorm(const NormCall& call);

}  // namespace trilobite::kernels
