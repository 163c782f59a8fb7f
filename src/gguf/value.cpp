#include "gguf/value.hpp"

#include <array>
#include <type_traits>

namespace trilobite::gguf {
namespace {

struct TypeRow {
  std::string_view name;
  size_t size;
};
constexpr std::array<TypeRow, 13> kTypes{{{"u8", 1},
                                          {"i8", 1},
                                          {"u16", 2},
                                          {"i16", 2},
                                          {"u32", 4},
                                          {"i32", 4},
                                          {"f32", 4},
                                          {"bool", 1},
                                          {"string", 0},
                                          {"array", 0},
                                          {"u64", 8},
                                          {"i64", 8},
                                          {"f64", 8}}};

}  // namespace

std::string_view name_of(ValueType type) { return kTypes[static_cast<size_t>(type)].name; }
size_t size_of(ValueType type) { return kTypes[static_cast<size_t>(type)].size; }

// The variant's alternatives stand in the order of the format's numbers.
ValueType type_of(const Value& value) { return static_cast<ValueType>(value.index()); }

std::optional<uint64_t> as_unsigned(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::optional<uint64_t> {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          if (held >= T{0}) return static_cast<uint64_t>(held);
        }
        return std::nullopt;
      },
      value);
}

std::optional<double> as_number(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::optional<double> {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
          return static_cast<double>(held);
        return std::nullopt;
      },
      value);
}

}  // namespace trilobite::gguf
