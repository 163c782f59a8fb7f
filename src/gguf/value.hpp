#pragma once
// A metadata value of a GGUF file. Text and arrays of numbers are views into the file's bytes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace trilobite::gguf {

/// The numbers are those of the format.
enum class ValueType : uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  text = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};
std::string_view name_of(ValueType type);
/// Bytes of a number or boolean; 0 for text and arrays.
size_t size_of(ValueType type);

/// Elements of one type. Exactly one of the three members holds them.
struct Array {
  ValueType type = ValueType::u8;
  size_t count = 0;
  std::span<const std::byte> numbers;  // packed, little-endian, not aligned
  std::vector<std::string_view> texts;
  std::vector<Array> arrays;

  /// Element `index` of an array of T's own type.
  template <typename T>
  T number(size_t index) const {
    T value;
    std::memcpy(&value, numbers.data() + index * sizeof(T), sizeof(T));
    return value;
  }
};

using Value = std::variant<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, float, bool,
                           std::string_view, Array, uint64_t, int64_t, double>;
ValueType type_of(const Value& value);

/// Any integer that is not negative; nothing for other values.
std::optional<uint64_t> as_unsigned(const Value& value);
/// Any number.
std::optional<double> as_number(const Value& value);

}  // namespace trilobite::gguf
