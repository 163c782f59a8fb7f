#pragma once
// Element by element: fill, add, mul and the activations, on dense arrays of f32, f16 or bf16.
// 16-bit elements are widened to f32, computed there and rounded once, to nearest even.

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.hpp"

namespace trilobite::kernels {

/// Where the result goes when it is stored.
enum class StoreTo : uint8_t {
  cache,   // somebody reads it soon
  memory,  // larger than the last-level cache: past the caches, which saves reading it first
};

enum class Binary : uint8_t { add, mul };

enum class Activation : uint8_t {
  relu,       // NaN stays NaN
  gelu_tanh,  // |error| <= 3e-7 (1 + |x|)
  gelu_erf,   // |error| <= 3e-7 (1 + |x|)
  swish,      // x / (1 + exp(-beta x)); |error| <= 3e-7 (1 + |x|)
};

struct BinaryCall {
  Binary op;
  DType dtype;
  const void* a;
  const void* b;
  void* out;
  size_t count;
  StoreTo store_to = StoreTo::cache;
};
void binary(const BinaryCall& call);

struct ActivationCall {
  Activation op;
  DType dtype;
  const void* x;
  void* out;
  size_t count;
  float beta = 1.0f;  // swish
  StoreTo store_to = StoreTo::cache;
};
void activation(const ActivationCall& call);

struct FillCall {
  DType dtype;
  float value;
  void* out;
  size_t count;
  StoreTo store_to = StoreTo::cache;
};
void fill(const FillCall& call);

}  // namespace trilobite::kernels
