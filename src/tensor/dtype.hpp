#pragma once
// The element types of tensors; base/float16.hpp has the two 16-bit floats themselves.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/float16.hpp"

namespace trilobite {

enum class DType : uint8_t { f32, f16, bf16, i8, i32, u8 };

size_t size_of(DType dtype);
std::string_view name_of(DType dtype);
/// Also accepts the long spellings "float32", "float16", "bfloat16", "int8", "int32", "uint8".
std::optional<DType> dtype_from_name(std::string_view name);

}  // namespace trilobite
