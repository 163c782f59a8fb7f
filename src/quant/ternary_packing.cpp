#include "quant/ternary_packing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace trilobite::quant {
namespace {

/// A byte is the sum of digit[i] * place[i]; digits are w + 1.
struct Places {
  std::array<unsigned, 5> place;
  unsigned base;
  size_t per_byte;
  std::string_view name;
};

const Places& places_of(TernaryForm form) {
  static constexpr Places kTwoBit{{1, 4, 16, 64, 0}, 4, 4, "two-bit"};
  static constexpr Places kFiveTrits{{1, 3, 9, 27, 81}, 3, 5, "five-trit"};
  return form == TernaryForm::two_bit ? kTwoBit : kFiveTrits;
}

void pack_row(std::span<const int8_t> codes, const Places& places, uint8_t* packed) {
  for (size_t first = 0; first < codes.size(); first += places.per_byte) {
    unsigned byte = 0;
    for (size_t i = 0; i < places.per_byte; ++i) {
      const int code = first + i < codes.size() ? codes[first + i] : 0;
      byte += static_cast<unsigned>(code + 1) * places.place[i];
    }
    *packed++ = static_cast<uint8_t>(byte);
  }
}

/// What a digit of 3, or anything else that a byte cannot mean, unpacks to.
constexpr int8_t kInvalid = 2;

using ByteTable = std::array<std::array<int8_t, 5>, 256>;

ByteTable make_table(const Places& places) {
  ByteTable table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (size_t i = 0; i < places.per_byte; ++i) {
      const unsigned digit = byte / places.place[i] % places.base;
      table[byte][i] = static_cast<int8_t>(static_cast<int>(digit) - 1);
    }
    // Five trits end at 242; the bytes above have no meaning at all.
    if (places.base == 3 && byte > 242) table[byte].fill(kInvalid);
  }
  return table;
}

const ByteTable& table_of(TernaryForm form) {
  static const ByteTable kTwoBit = make_table(places_of(TernaryForm::two_bit));
  static const ByteTable kFiveTrits = make_table(places_of(TernaryForm::five_trits_a_byte));
  return form == TernaryForm::two_bit ? kTwoBit : kFiveTrits;
}

void unpack_row(const uint8_t* packed, const ByteTable& table, size_t per_byte,
                std::span<int8_t> codes) {
  for (size_t first = 0; first < codes.size(); first += per_byte) {
    const auto& digits = table[*packed++];
    const size_t count = std::min(per_byte, codes.size() - first);
    std::copy_n(digits.begin(), count, codes.begin() + static_cast<ptrdiff_t>(first));
  }
}

}  // namespace

size_t packed_row_bytes(TernaryForm form, size_t cols) {
  const size_t per_byte = places_of(form).per_byte;
  return (cols + per_byte - 1) / per_byte;
}

std::vector<uint8_t> pack_ternary(const TernaryMatrix& ternary, TernaryForm form) {
  TRILOBITE_CHECK(std::ranges::all_of(ternary.codes, [](int8_t c) { return c >= -1 && c <= 1; }));
  const size_t row_bytes = packed_row_bytes(form, ternary.cols);
  std::vector<uint8_t> packed(ternary.rows * row_bytes);
  for (size_t r = 0; r < ternary.rows; ++r) {
    pack_row(std::span(ternary.codes).subspan(r * ternary.cols, ternary.cols), places_of(form),
             packed.data() + r * row_bytes);
  }
  return packed;
}

Result<std::vector<int8_t>> unpack_ternary(TernaryForm form, const QuantizedView& packed) {
  const auto elements = count_elements(packed.rows, packed.cols);
  if (!elements) return fail_from(elements);
  const Places& places = places_of(form);
  const size_t row_bytes = packed_row_bytes(form, packed.cols);
  if (packed.bytes.size() != packed.rows * row_bytes) {
    return fail(fmt::format("{} codes of {} x {} weights take {} bytes, there are {}", places.name,
                            packed.rows, packed.cols, packed.rows * row_bytes,
                            packed.bytes.size()));
  }
  std::vector<int8_t> codes(*elements);
  for (size_t r = 0; r < packed.rows; ++r) {
    unpack_row(packed.bytes.data() + r * row_bytes, table_of(form), places.per_byte,
               std::span(codes).subspan(r * packed.cols, packed.cols));
  }
  const auto bad = std::ranges::find(codes, kInvalid);
  if (bad == codes.end()) return codes;
  const auto index = static_cast<size_t>(bad - codes.begin());
  const size_t row = index / packed.cols;
  const size_t col = index % packed.cols;
  return fail(fmt::format("byte {:#04x} at row {}, column {} is no {} code of ternary weights",
                          packed.bytes[row * row_bytes + col / places.per_byte], row, col,
                          places.name));
}

}  // namespace trilobite::quant
