#include "tensor/dtype.hpp"

#include <array>
#include <cmath>

namespace trilobite {
namespace {

struct TypeFacts {
  DType dtype;
  std::string_view name;
  std::string_view long_name;
  size_t bytes;
};

constexpr std::array kTypes{
    TypeFacts{DType::f32, "f32", "float32", 4},    TypeFacts{DType::f16, "f16", "float16", 2},
    TypeFacts{DType::bf16, "bf16", "bfloat16", 2}, TypeFacts{DType::i8, "i8", "int8", 1},
    TypeFacts{DType::i32, "i32", "int32", 4},      TypeFacts{DType::u8, "u8", "uint8", 1}};

}  // namespace

size_t size_of(DType dtype) { return kTypes[static_cast<size_t>(dtype)].bytes; }
std::string_view name_of(DType dtype) { return kTypes[static_cast<size_t>(dtype)].name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const auto& type : kTypes) {
    if (name == type.name || name == type.long_name) return type.dtype;
  }
  return std::nullopt;
}

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
