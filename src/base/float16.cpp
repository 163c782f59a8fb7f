#include "base/float16.hpp"

#include <cmath>

namespace trilobite {

Float16 Float16::from(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return {static_cast<uint16_t>(sign | 0x7E00)};  // NaN
  if (magnitude >= 0x477FF000)
    return {static_cast<uint16_t>(sign | 0x7C00)};  // rounds to 65536 or above
  if (magnitude < 0x38800000) {
    // Subnormal result: adding 0.5 puts the f16 bits into the low mantissa bits, rounded by the
    // FPU.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000))};
  }
  // Rebias the exponent (127 -> 15) and round the 13 dropped bits to nearest even.
  const uint32_t odd = (magnitude >> 13) & 1;
  const uint32_t rounded = magnitude - (112u << 23) + 0xFFF + odd;
  return {static_cast<uint16_t>(sign | (rounded >> 13))};
}

float Float16::to_float() const {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 31;
  const uint32_t mantissa = bits & 0x3FF;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

BFloat16 BFloat16::from(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return {static_cast<uint16_t>((bits >> 16) | 0x40)};
  const uint32_t odd = (bits >> 16) & 1;
  return {static_cast<uint16_t>((bits + 0x7FFF + odd) >> 16)};
}

}  // namespace trilobite
