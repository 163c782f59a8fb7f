#pragma once
// Dense arrays of f16 and bf16 to f32 and back, rounded to nearest even. f32 is copied.

#include <cstddef>

#include "tensor/dtype.hpp"

namespace trilobite::kernels {

struct ToF32Call {
  DType dtype;  // of `from`
  const void* from;
  float* to;
  size_t count;
};
void to_f32(const ToF32Call& call);

struct FromF32Call {
  DType dtype;  // of `to`
  const float* from;
  void* to;
  size_t count;
};
void from_f32(const FromF32Call& call);

}  // namespace trilobite::kernels
