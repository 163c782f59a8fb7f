#include "tensor/dtype.hpp"

#include <array>

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

}  // namespace trilobite
