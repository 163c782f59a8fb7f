#pragma once
// Rotary position embedding (Su et al. 2021): pairs of a head's elements are turned by an angle
// that grows with the position.

#include <cstddef>
#include <cstdint>
#include <span>

namespace trilobite::kernels {

/// Which elements of a head make pair i of n.
enum class RopePairs : uint8_t {
  neighbours,  // 2 i and 2 i + 1
  halves,      // i and i + n
};

/// Turns the first 2 * cosines.size() elements of each of `heads` heads of `head_size` elements,
/// which stand side by side in x.
struct RopeCall {
  RopePairs pairs;
  std::span<const float> cosines;  // of the position, one for each pair
  std::span<const float> sines;
  float* x;
  size_t heads;
  size_t head_size;
};
void rope(const RopeCall& call);

}  // namespace trilobite::kernels
