#pragma once
// The two 16-bit floats and their exact conversions from and to f32: the one scalar implementation
// that tensors, formats and the tests of the fast kernels share.

#include <bit>
#include <cstdint>

namespace trilobite {

/// IEEE binary16, stored as its bits.
struct Float16 {
  uint16_t bits = 0;
  static Float16 from(float value);  ///< rounds to nearest even; overflow becomes infinity
  float to_float() const;
};

/// The upper half of an f32, stored as its bits.
struct BFloat16 {
  uint16_t bits = 0;
  static BFloat16 from(float value);  ///< rounds to nearest even; NaN stays NaN
  float to_float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

}  // namespace trilobite
