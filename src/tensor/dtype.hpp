#pragma once
// The element types of tensors, and exact conversions between f32 and the 16-bit floats.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trilobite {

enum class DType : uint8_t { f32, f16, bf16, i8, i32, u8 };

size_t size_of(DType dtype);
std::string_view name_of(DType dtype);
/// Also accepts the long spellings "float32", "float16", "bfloat16", "int8", "int32", "uint8".
std::optional<DType> dtype_from_name(std::string_view name);

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
