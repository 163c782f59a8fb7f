#pragma once
// Activations to int8, one token at a time, by the absmax rule (quant/bitnet.hpp is the reference).

#include <cstddef>
#include <cstdint>

namespace trilobite::kernels {

/// codes[i] = round(x[i] * 127 / m), ties to even, with m = max(|x|, epsilon); zeros behind them up
/// to `padded_columns`.
struct AbsmaxCall {
  const float* x;
  size_t columns;
  size_t padded_columns;
  float epsilon;
  int8_t* codes;
};
struct AbsmaxResult {
  float scale;     // m / 127: x is about code * scale
  int32_t sum;     // of the codes
  bool is_finite;  // when false there was NaN or infinity, and nothing else means anything
};
AbsmaxResult quantize_absmax(const AbsmaxCall& call);

}  // namespace trilobite::kernels
