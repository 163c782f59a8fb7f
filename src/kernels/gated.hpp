#pragma once
// The gate of a feed-forward layer: out = act(gate) * up, on f32.

#include <cstddef>
#include <cstdint>

namespace trilobite::kernels {

enum class Gate : uint8_t {
  silu,          // g / (1 + exp(-g)); |error| <= 3e-7 (1 + |g|) |up|
  relu_squared,  // max(g, 0)^2; NaN stays NaN
};

struct GatedCall {
  Gate gate_op;
  const float* gate;
  const float* up;
  float* out;  // may be gate or up
  size_t count;
};
void gated(const GatedCall& call);

}  // namespace trilobite::kernels
