#pragma once
// Standard normal values, number for number those of normal_at (base/rng.hpp).

#include <cstddef>
#include <cstdint>

namespace trilobite::kernels {

/// out[i] = normal_at(seed, stream, first + i), to the last bit, on every instruction set.
struct RandnCall {
  uint64_t seed;
  uint64_t stream;
  uint64_t first;  // a multiple of 4
  float* out;
  size_t count;
};
void randn(const RandnCall& call);

}  // namespace trilobite::kernels
