#pragma once
// The two roundings that the formats are defined with, as expressions a compiler can vectorise on
// any instruction set (std::round and std::nearbyint are library calls on plain x86-64).

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace trilobite::quant {

/// To the nearest integer, ties to the even one, as torch.round. |value| <= 2^22.
inline float round_half_even(float value) {
  // Beside 1.5 * 2^23 floats are 1 apart, so the addition rounds, and in the default mode to even.
  constexpr float kOneApart = 0x1.8p23f;
  return (value + kOneApart) - kOneApart;
}

/// To the nearest integer, ties away from zero, as roundf. |value| < 2^24.
inline int32_t round_half_away(float value) {
  const auto whole = static_cast<int32_t>(value);
  const float rest = value - static_cast<float>(whole);  // exact
  return whole + static_cast<int32_t>(rest >= 0.5f) - static_cast<int32_t>(rest <= -0.5f);
}

/// round_half_even, then clipped to the integers [low, high]; infinities clip as well.
inline int32_t round_clipped(float value, int32_t low, int32_t high) {
  // Clipping first gives the same integer and keeps the value in the range of the rounding.
  return static_cast<int32_t>(
      round_half_even(std::clamp(value, static_cast<float>(low), static_cast<float>(high))));
}

/// numerator / divisor, 0 where that is no finite number. Multiplying with an infinite factor would
/// make NaN out of weights that are 0.
inline float finite_quotient(float numerator, float divisor) {
  const float quotient = numerator / divisor;
  return std::isfinite(quotient) ? quotient : 0.0f;
}

}  // namespace trilobite::quant
