#pragma once
// Our own two packed forms of ternary weights. Both pack each row by itself, first weight in the
// lowest place, and fill the last byte of a row with weight 0, which readers ignore. The scale is
// kept beside the bytes. docs/formats/bitnet.md has the layouts.

#include <cstdint>
#include <span>
#include <string_view>

#include "quant/bitnet.hpp"

namespace trilobite::quant {

enum class TernaryForm {
  two_bit,           ///< 4 weights a byte, two bits each, code w + 1; code 3 is invalid
  five_trits_a_byte  ///< 5 weights a byte, base 3, digit w + 1; bytes above 242 are invalid
};

/// Bytes of one packed row.
size_t packed_row_bytes(TernaryForm form, size_t cols);

/// All rows. Every code of `ternary` must be -1, 0 or 1.
std::vector<uint8_t> pack_ternary(const TernaryMatrix& ternary, TernaryForm form);

/// The codes alone ([rows, cols]; the scales stay where they were). An error names the first place
/// that holds no weight, or the number of bytes that there should be.
Result<std::vector<int8_t>> unpack_ternary(TernaryForm form, const QuantizedView& packed);

}  // namespace trilobite::quant
