#include "kernels/ternary_tile.hpp"

#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ternary_tile.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/row_words-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

using quant::kQuad;
using quant::kTileBlockBytes;
using quant::kTileRows;

inline constexpr size_t kBlockColumns = 16;
/// Four codes of weight 0.
inline constexpr uint8_t kZeroCodes = 0x55;

/// Exchanges field k + 1 of `a` with field k of `b`, where a field is kBits wide and k even.
template <int kBits, class V>
HWY_INLINE void exchange_fields(V& a, V& b) {
  const auto even = hn::Set(hn::DFromV<V>(), kBits == 2 ? 0x33333333 : 0x0F0F0F0F);
  const auto differs = hn::And(hn::Xor(hn::ShiftRight<kBits>(a), b), even);
  b = hn::Xor(b, differs);
  a = hn::Xor(a, hn::ShiftLeft<kBits>(differs));
}

/// In each byte, 2-bit field k of word n becomes field n of word k.
template <class V>
HWY_INLINE void transpose_fields(V (&words)[4]) {
  exchange_fields<2>(words[0], words[1]);
  exchange_fields<2>(words[2], words[3]);
  exchange_fields<4>(words[0], words[2]);
  exchange_fields<4>(words[1], words[3]);
}

/// Collects whether a code 3 was among the words.
template <class D>
class CodeCheck {
 public:
  HWY_INLINE CodeCheck() : both_(hn::Zero(D())) {}
  HWY_INLINE void see(const hn::Vec<D> (&words)[4]) {
    for (const auto& word : words) both_ = hn::Or(both_, hn::And(word, hn::ShiftRight<1>(word)));
  }
  HWY_INLINE bool passed() const {
    const D d;
    return hn::AllTrue(d, hn::Eq(hn::And(both_, hn::Set(d, 0x55555555)), hn::Zero(d)));
  }

 private:
  hn::Vec<D> both_;
};
using RowCheck = CodeCheck<RowTag>;

/// Two-bit codes of one row: a run of 16 kChunks bytes in which byte i holds the codes of columns
/// i, i + 16 kChunks, ..., the first in the lowest bits or, reversed, in the highest.
template <size_t kRuns, size_t kChunks, size_t kBytes, bool kReversed>
struct TwoBitBlock {
  static constexpr size_t kSourceBytes = kBytes;
  static constexpr size_t kOutBlocks = 4 * kRuns * kChunks;

  static HWY_INLINE void convert(const uint8_t* const* rows, size_t at, TileBlocks out,
                                 RowCheck& check) {
    HWY_UNROLL(4)
    for (size_t chunk = 0; chunk < kRuns * kChunks; ++chunk) {
      RowWords words[4];
      load_four_words(rows, at + 16 * chunk, words);
      check.see(words);
      transpose_fields(words);
      const size_t first = 4 * kChunks * (chunk / kChunks) + chunk % kChunks;
      for (size_t k = 0; k < 4; ++k) {
        store_row_words(words[kReversed ? 3 - k : k],
                        out.first + (first + kChunks * k) * out.stride);
      }
    }
  }
};
using Tq2Block = TwoBitBlock<2, 2, 66, false>;
using I2sBlock128 = TwoBitBlock<1, 2, 32, true>;
using I2sBlock64 = TwoBitBlock<1, 1, 16, true>;

/// The base-3 digits of four bytes as fractions of 256, one after the other, in 16 bits each.
class Fractions {
 public:
  HWY_INLINE explicit Fractions(RowWords bytes)
      : even_(hn::And(bytes, mask())), odd_(hn::And(hn::ShiftRight<8>(bytes), mask())) {}
  /// A digit of each byte.
  HWY_INLINE RowWords next() {
    even_ = tripled(even_);
    odd_ = tripled(odd_);
    const auto digits = hn::Or(hn::And(hn::ShiftRight<8>(even_), row_words(0x00030003)),
                               hn::And(odd_, row_words(0x03000300)));
    even_ = hn::And(even_, mask());
    odd_ = hn::And(odd_, mask());
    return digits;
  }

 private:
  static HWY_INLINE RowWords mask() { return row_words(0x00FF00FF); }
  static HWY_INLINE RowWords tripled(RowWords v) { return hn::Add(v, hn::Add(v, v)); }
  RowWords even_;
  RowWords odd_;
};

struct Tq1Block {
  static constexpr size_t kSourceBytes = 54;
  static constexpr size_t kOutBlocks = 16;

  /// Digit n of the four words is output block first + step * n.
  static HWY_INLINE void convert_chunk(const RowWords (&words)[4], size_t first, size_t step,
                                       TileBlocks out) {
    Fractions fractions[] = {Fractions(words[0]), Fractions(words[1]), Fractions(words[2]),
                             Fractions(words[3])};
    for (size_t digit = 0; digit < 5; ++digit) {
      const auto low = hn::Or(fractions[0].next(), hn::ShiftLeft<2>(fractions[1].next()));
      const auto high = hn::Or(fractions[2].next(), hn::ShiftLeft<2>(fractions[3].next()));
      store_row_words(hn::Or(low, hn::ShiftLeft<4>(high)),
                      out.first + (first + step * digit) * out.stride);
    }
  }
  static HWY_INLINE void convert(const uint8_t* const* rows, size_t at, TileBlocks out, RowCheck&) {
    RowWords words[4];
    load_four_words(rows, at, words);
    convert_chunk(words, 0, 2, out);
    load_four_words(rows, at + 16, words);
    convert_chunk(words, 1, 2, out);
    load_four_words(rows, at + 32, words);
    convert_chunk(words, 10, 1, out);
    // The last four bytes have four digits each, which are the quads of one block.
    load_four_words(rows, at + 36, words);
    Fractions last(words[3]);
    auto packed = last.next();
    packed = hn::Or(packed, hn::ShiftLeft<2>(last.next()));
    packed = hn::Or(packed, hn::ShiftLeft<4>(last.next()));
    packed = hn::Or(packed, hn::ShiftLeft<6>(last.next()));
    store_row_words(packed, out.first + 15 * out.stride);
  }
};

template <class Block>
bool convert_tile(const TileRows& rows, size_t columns, TileBlocks out) {
  RowCheck check;
  for (size_t b = 0; b < columns / (Block::kOutBlocks * kBlockColumns); ++b) {
    fetch_ahead(rows.ahead + b * kTileRows * Block::kSourceBytes, kTileRows * Block::kSourceBytes);
    for (size_t row = 0; row < kTileRows; row += kVectorRows) {
      const TileBlocks at{out.first + row * kQuad, out.stride};
      Block::convert(rows.row.data() + row, b * Block::kSourceBytes, at, check);
    }
    out.first += Block::kOutBlocks * out.stride;
  }
  return check.passed();
}

#if HWY_TARGET == HWY_SCALAR
using FourTag = RowTag;
#else
using FourTag = hn::Full128<uint32_t>;
#endif
using FourCheck = CodeCheck<FourTag>;

#if HWY_TARGET == HWY_SCALAR

/// 16 columns of four times four rows: the fields of a byte belong to four rows.
HWY_INLINE void convert_four_rows(const uint8_t* const* groups, size_t at, uint8_t* out,
                                  FourCheck& check) {
  for (size_t g = 0; g < kTileRows / 4; ++g) {
    RowWords words[4];
    load_four_words(groups + g, at, words);
    check.see(words);
    transpose_fields(words);
    for (size_t k = 0; k < 4; ++k) store_row_words(words[3 - k], out + (4 * g + k) * kQuad);
  }
}

#else

/// 16 columns of four times four rows: the fields of a byte belong to four rows.
HWY_INLINE void convert_four_rows(const uint8_t* const* groups, size_t at, uint8_t* out,
                                  FourCheck& check) {
  const FourTag d;
  hn::Vec<FourTag> words[4];
  for (size_t g = 0; g < 4; ++g) words[g] = load_every_fourth(d, groups + g, at);
  check.see(words);
  transpose_words(words);
  transpose_fields(words);
  std::swap(words[0], words[3]);
  std::swap(words[1], words[2]);
  transpose_words(words);
  for (size_t g = 0; g < 4; ++g) {
    hn::StoreU(words[g], d, reinterpret_cast<uint32_t*>(out + 4 * g * kQuad));
  }
}

#endif

bool convert_four_rows_tile(const TileRows& rows, size_t columns, TileBlocks out) {
  constexpr size_t kGroups = kTileRows / 4;
  FourCheck check;
  size_t column = 0;
  for (; column + kBlockColumns <= columns; column += kBlockColumns, out.first += out.stride) {
    fetch_ahead(rows.ahead + column * kGroups, kBlockColumns * kGroups);
    convert_four_rows(rows.row.data(), column, out.first, check);
  }
  if (column == columns) return check.passed();
  uint8_t rest[kGroups][kBlockColumns];
  std::memset(rest, kZeroCodes, sizeof(rest));
  for (size_t g = 0; g < kGroups; ++g) {
    std::memcpy(rest[g], rows.row[g] + column, columns - column);
  }
  const uint8_t* const groups[] = {rest[0], rest[1], rest[2], rest[3]};
  convert_four_rows(groups, 0, out.first, check);
  return check.passed();
}

bool two_bit_tile_for_target(TernaryCodes codes, const TileRows& rows, size_t columns,
                             TileBlocks out) {
  switch (codes) {
    case TernaryCodes::tq1_0: return convert_tile<Tq1Block>(rows, columns, out);
    case TernaryCodes::tq2_0: return convert_tile<Tq2Block>(rows, columns, out);
    case TernaryCodes::i2s_block128: return convert_tile<I2sBlock128>(rows, columns, out);
    case TernaryCodes::i2s_block64: return convert_tile<I2sBlock64>(rows, columns, out);
    case TernaryCodes::i2s_four_rows: return convert_four_rows_tile(rows, columns, out);
  }
  return false;
}

void trits_from_two_bits_for_target(const uint8_t* two_bits, size_t count, TileBlocks out) {
  const auto mask = row_words(0x03030303);
  for (size_t block = 0; block < count; ++block, out.first += out.stride) {
    for (size_t at = 0; at < kTileBlockBytes; at += kRowVectorBytes) {
      auto packed = hn::Zero(RowTag());
      HWY_UNROLL(5)
      for (size_t quad = 5 * block; quad < 5 * block + 5; ++quad) {
        const auto words = load_row_words(two_bits + quad / 4 * kTileBlockBytes + at);
        const auto code =
            hn::And(hn::ShiftRightSame(words, static_cast<int>(2 * (quad % 4))), mask);
        packed = hn::Add(hn::Add(packed, hn::Add(packed, packed)), code);
      }
      store_row_words(packed, out.first + at);
    }
  }
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(two_bit_tile_for_target);
HWY_EXPORT(trits_from_two_bits_for_target);

bool two_bit_tile(TernaryCodes codes, const TileRows& rows, size_t columns, TileBlocks out) {
  return HWY_DYNAMIC_DISPATCH(two_bit_tile_for_target)(codes, rows, columns, out);
}
void trits_from_two_bits(const uint8_t* two_bits, size_t count, TileBlocks out) {
  HWY_DYNAMIC_DISPATCH(trits_from_two_bits_for_target)(two_bits, count, out);
}

}  // namespace trilobite::kernels
#endif
