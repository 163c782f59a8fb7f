#include "quant/ternary_packing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.hpp"

namespace trilobite::quant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr TernaryForm kForms[] = {TernaryForm::two_bit, TernaryForm::five_trits_a_byte};

TernaryMatrix matrix_of(size_t rows, size_t cols, std::vector<int8_t> codes) {
  return {.rows = rows, .cols = cols, .codes = std::move(codes), .scales = {1.0f}};
}

Result<std::vector<int8_t>> unpack(TernaryForm form, size_t rows, size_t cols,
                                   const std::vector<uint8_t>& bytes) {
  return unpack_ternary(form, {.rows = rows, .cols = cols, .bytes = bytes});
}

TEST(TernaryPacking, two_bit_bytes_worked_by_hand) {
  // Codes 0 1 2 1, first lowest: 01 10 01 00. The second row: 2, then three times weight 0 as
  // filling.
  const auto ternary = matrix_of(2, 5, {-1, 0, 1, 0, 1, 1, 1, 1, 1, -1});
  EXPECT_THAT(pack_ternary(ternary, TernaryForm::two_bit),
              ElementsAre(0b01'10'01'00, 0b01'01'01'10, 0b10'10'10'10, 0b01'01'01'00));
}

TEST(TernaryPacking, five_trit_bytes_worked_by_hand) {
  // 0 + 1*3 + 2*9 + 1*27 + 2*81 = 210; the second row 2 + 3 + 9 + 27 + 81 = 122.
  const auto ternary = matrix_of(2, 5, {-1, 0, 1, 0, 1, 1, 0, 0, 0, 0});
  EXPECT_THAT(pack_ternary(ternary, TernaryForm::five_trits_a_byte), ElementsAre(210, 122));
  const auto ones = matrix_of(1, 6, {1, 1, 1, 1, 1, -1});
  EXPECT_THAT(pack_ternary(ones, TernaryForm::five_trits_a_byte), ElementsAre(242, 120));
}

TEST(TernaryPacking, what_was_packed_is_unpacked_at_any_width) {
  Rng rng(1);
  for (const auto form : kForms) {
    for (const size_t cols : {1u, 3u, 4u, 5u, 6u, 19u, 20u, 21u, 256u, 1001u}) {
      auto ternary = matrix_of(3, cols, std::vector<int8_t>(3 * cols));
      for (auto& code : ternary.codes)
        code = static_cast<int8_t>(static_cast<int>(rng.below(3)) - 1);
      EXPECT_EQ(unpack(form, 3, cols, pack_ternary(ternary, form)).value(), ternary.codes);
    }
  }
}

TEST(TernaryPacking, every_byte_is_either_weights_or_an_error) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::vector<uint8_t> bytes = {static_cast<uint8_t>(byte)};
    const auto pairs = unpack(TernaryForm::two_bit, 1, 4, bytes);
    const bool has_code_3 =
        byte % 4 == 3 || byte / 4 % 4 == 3 || byte / 16 % 4 == 3 || byte / 64 == 3;
    EXPECT_EQ(pairs.has_value(), !has_code_3) << byte;
    const auto trits = unpack(TernaryForm::five_trits_a_byte, 1, 5, bytes);
    EXPECT_EQ(trits.has_value(), byte <= 242) << byte;
    if (trits) {
      EXPECT_EQ(pack_ternary(matrix_of(1, 5, *trits), TernaryForm::five_trits_a_byte), bytes);
    }
  }
}

TEST(TernaryPacking, the_error_names_the_place) {
  EXPECT_EQ(unpack(TernaryForm::two_bit, 2, 4, {0x55, 0x75}).error().message(),
            "byte 0x75 at row 1, column 2 is no two-bit code of ternary weights");
  EXPECT_EQ(unpack(TernaryForm::five_trits_a_byte, 2, 5, {0, 243}).error().message(),
            "byte 0xf3 at row 1, column 0 is no five-trit code of ternary weights");
}

TEST(TernaryPacking, filling_is_not_looked_at) {
  // Weight 0 of one column, then three times code 3.
  EXPECT_THAT(unpack(TernaryForm::two_bit, 1, 1, {0b11'11'11'01}).value(), ElementsAre(0));
}

TEST(TernaryPacking, too_few_or_too_many_bytes_are_an_error) {
  for (const auto form : kForms) {
    EXPECT_THAT(
        unpack(form, 2, 20, std::vector<uint8_t>(packed_row_bytes(form, 20))).error().message(),
        HasSubstr("2 x 20 weights take"));
    EXPECT_FALSE(unpack(form, 1, 20, std::vector<uint8_t>(packed_row_bytes(form, 20) + 1)));
    EXPECT_FALSE(unpack(form, 0, 20, {}));
    EXPECT_FALSE(unpack(form, SIZE_MAX, SIZE_MAX, {}));
  }
}

}  // namespace
}  // namespace trilobite::quant
