#pragma once
// The tensor types that GGUF files name: their numbers, names and block sizes. The table knows more
// types than the engine computes with, so that a file can be listed and refused by name.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace trilobite::gguf {

enum class TensorType : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q8_0 = 8,
  q4_k = 12,
  q6_k = 14,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  i2_s = 36,  // bitnet.cpp's; llama.cpp used the number for a type that it has withdrawn
  iq1_bn = 134,
  iq2_bn = 135,
};

struct TypeFacts {
  TensorType type;
  std::string_view name;  // as llama.cpp prints it: "Q4_0"
  size_t block_columns;
  size_t block_bytes;
  size_t row_extra_bytes = 0;     // IQ1_BN and IQ2_BN keep the scale of a row beside its blocks
  size_t tensor_extra_bytes = 0;  // I2_S keeps the scale of the tensor behind it
};

/// nullptr for a number that is in no known version of the format.
const TypeFacts* find_type(uint32_t number);
/// By name, upper or lower case.
Result<TensorType> parse_type(std::string_view name);
/// The type must be one of the enumerators above.
const TypeFacts& facts_of(TensorType type);
inline std::string_view name_of(TensorType type) { return facts_of(type).name; }

/// Bytes of `rows` rows of `columns` each. An error when the columns are not whole blocks or the
/// count overflows.
Result<size_t> tensor_bytes(const TypeFacts& facts, size_t rows, size_t columns);

}  // namespace trilobite::gguf
