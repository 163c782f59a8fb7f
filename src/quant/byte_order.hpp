#pragma once
// Numbers in packed bytes. All formats are little-endian and their fields need not be aligned.

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/float16.hpp"

namespace trilobite::quant {

static_assert(std::endian::native == std::endian::little, "a big-endian machine must swap here");

template <typename T>
T load_bytes(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void store_bytes(uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

inline float load_f16(const uint8_t* from) { return load_bytes<Float16>(from).to_float(); }
inline void store_f16(uint8_t* to, float value) { store_bytes(to, Float16::from(value)); }

}  // namespace trilobite::quant
