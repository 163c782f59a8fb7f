#pragma once
// The seam between the device and Eigen, which is compiled once per instruction set. Plain data
// and plain functions only: an inline function of ours or of the standard library that is used on
// both sides would be compiled several times under one name, and the linker would keep any of them.

#include <cstdint>

namespace trilobite {

enum class EigenType : uint8_t { f32, f16, bf16 };

/// A matrix with dense rows, or with dense columns if transposed.
struct EigenMatrix {
  const float* data;
  int64_t rows;
  int64_t columns;
  int64_t leading;  // distance between rows (columns, if transposed)
  bool transposed;
};

/// A dense stack of rows. `weight` and `bias` hold one value per column.
struct EigenRows {
  EigenType type;
  const void* x;       // [rows, columns]
  const void* weight;  // [columns]; rmsnorm, layernorm
  const void* bias;    // [columns]; layernorm
  int64_t rows;
  int64_t columns;
  float epsilon;
  void* out;  // [rows, columns]
};

/// A matrix of any positive or zero strides, to be written densely.
struct EigenMove {
  EigenType type;
  const void* from;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;
  void* to;
};

/// Sums, functions and products are computed in f32; 16-bit types are widened on the way in and
/// rounded once on the way out.
struct EigenKernels {
  using Unary = void (*)(EigenType, const void* x, int64_t count, float beta, void* out);
  using Binary = void (*)(EigenType, const void* a, const void* b, int64_t count, void* out);
  using OnRows = void (*)(const EigenRows&);

  const char* instruction_set;  // what Eigen vectorises for in this variant
  void (*multiply)(const EigenMatrix& a, const EigenMatrix& b, float* out, int64_t out_leading);
  void (*widen)(EigenType, const void* from, int64_t count, float* to);
  void (*narrow)(EigenType, const float* from, int64_t count, void* to);
  void (*fill)(EigenType, float value, int64_t count, void* out);
  float (*sum)(EigenType, const void* x, int64_t count);
  void (*move)(const EigenMove&);
  Binary add, mul;
  Unary relu, gelu_tanh, gelu_erf, swish;  // beta matters to swish
  OnRows softmax, rmsnorm, layernorm;
};

extern const EigenKernels eigen_kernels_baseline;
extern const EigenKernels eigen_kernels_avx2;
extern const EigenKernels eigen_kernels_avx512;

}  // namespace trilobite
