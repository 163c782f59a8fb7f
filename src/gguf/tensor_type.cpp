#include "gguf/tensor_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace trilobite::gguf {
namespace {

constexpr TypeFacts block(uint32_t number, std::string_view name, size_t columns, size_t bytes) {
  return {static_cast<TensorType>(number), name, columns, bytes};
}

constexpr std::array kTypes{
    block(0, "F32", 1, 4),
    block(1, "F16", 1, 2),
    block(2, "Q4_0", 32, 18),
    block(3, "Q4_1", 32, 20),
    block(6, "Q5_0", 32, 22),
    block(7, "Q5_1", 32, 24),
    block(8, "Q8_0", 32, 34),
    block(9, "Q8_1", 32, 36),
    block(10, "Q2_K", 256, 84),
    block(11, "Q3_K", 256, 110),
    block(12, "Q4_K", 256, 144),
    block(13, "Q5_K", 256, 176),
    block(14, "Q6_K", 256, 210),
    block(15, "Q8_K", 256, 292),
    block(16, "IQ2_XXS", 256, 66),
    block(17, "IQ2_XS", 256, 74),
    block(18, "IQ3_XXS", 256, 98),
    block(19, "IQ1_S", 256, 50),
    block(20, "IQ4_NL", 32, 18),
    block(21, "IQ3_S", 256, 110),
    block(22, "IQ2_S", 256, 82),
    block(23, "IQ4_XS", 256, 136),
    block(24, "I8", 1, 1),
    block(25, "I16", 1, 2),
    block(26, "I32", 1, 4),
    block(27, "I64", 1, 8),
    block(28, "F64", 1, 8),
    block(29, "IQ1_M", 256, 56),
    block(30, "BF16", 1, 2),
    block(34, "TQ1_0", 256, 54),
    block(35, "TQ2_0", 256, 66),
    TypeFacts{TensorType::i2_s, "I2_S", 4, 1, 0, 32},
    block(39, "MXFP4", 32, 17),
    TypeFacts{TensorType::iq1_bn, "IQ1_BN", 64, 13, 2, 0},
    TypeFacts{TensorType::iq2_bn, "IQ2_BN", 64, 16, 4, 0},
};

std::string upper(std::string_view text) {
  std::string result(text);
  for (auto& letter : result)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return result;
}

}  // namespace

const TypeFacts* find_type(uint32_t number) {
  const auto found = std::ranges::find(kTypes, static_cast<TensorType>(number), &TypeFacts::type);
  return found == kTypes.end() ? nullptr : &*found;
}

Result<TensorType> parse_type(std::string_view name) {
  const auto found = std::ranges::find(kTypes, upper(name), &TypeFacts::name);
  if (found == kTypes.end()) return fail(fmt::format("there is no tensor type '{}'", name));
  return found->type;
}

const TypeFacts& facts_of(TensorType type) {
  const auto* facts = find_type(static_cast<uint32_t>(type));
  TRILOBITE_CHECK(facts != nullptr);
  return *facts;
}

Result<size_t> tensor_bytes(const TypeFacts& facts, size_t rows, size_t columns) {
  if (columns % facts.block_columns != 0) {
    return fail(fmt::format("{} columns are not whole {} blocks of {}", columns, facts.name,
                            facts.block_columns));
  }
  size_t row = 0;
  size_t total = 0;
  if (__builtin_mul_overflow(columns / facts.block_columns, facts.block_bytes, &row) ||
      __builtin_add_overflow(row, facts.row_extra_bytes, &row) ||
      __builtin_mul_overflow(row, rows, &total) ||
      __builtin_add_overflow(total, facts.tensor_extra_bytes, &total)) {
    return fail(fmt::format("{} rows of {} columns are more than any file holds", rows, columns));
  }
  return total;
}

}  // namespace trilobite::gguf
