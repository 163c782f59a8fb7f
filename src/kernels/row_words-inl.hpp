// 32-bit words of many rows at once, for one Highway target: how packed rows become tiles, in which
// every 32-bit lane belongs to one row. Included once per target (hence no #pragma once).

#if defined(TRILOBITE_KERNELS_ROW_WORDS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_ROW_WORDS_INL_HPP
#undef TRILOBITE_KERNELS_ROW_WORDS_INL_HPP
#else
#define TRILOBITE_KERNELS_ROW_WORDS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/fetch-inl.hpp"
#include "quant/tile_shape.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using RowTag = hn::CappedTag<uint32_t, quant::kTileRows>;
using RowWords = hn::Vec<RowTag>;
/// Rows of a vector.
inline constexpr size_t kVectorRows = hn::MaxLanes(RowTag());
inline constexpr size_t kRowVectorBytes = kVectorRows * sizeof(uint32_t);

HWY_INLINE RowWords row_words(uint32_t same) { return hn::Set(RowTag(), same); }
HWY_INLINE RowWords load_row_words(const uint8_t* from) {
  return hn::LoadU(RowTag(), reinterpret_cast<const uint32_t*>(from));
}
HWY_INLINE void store_row_words(RowWords words, uint8_t* to) {
  hn::StoreU(words, RowTag(), reinterpret_cast<uint32_t*>(to));
}
/// Bits kShift and up of each byte, as many as `mask` has.
template <int kShift>
HWY_INLINE RowWords byte_field(RowWords words, RowWords mask) {
  if constexpr (kShift != 0) words = hn::ShiftRight<kShift>(words);
  return hn::And(words, mask);
}

/// Fetches what will be read next.
HWY_INLINE void fetch_ahead(const uint8_t* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64) fetch_into_l1(from + at);
}

/// Copies the f16 number at `at` in each row of a tile and says whether all are finite.
HWY_INLINE bool copy_f16(const uint8_t* const* rows, size_t at, uint8_t* to) {
  uint32_t carry = 0;
  for (size_t r = 0; r < quant::kTileRows; ++r) {
    uint16_t bits;
    std::memcpy(&bits, rows[r] + at, sizeof(bits));
    std::memcpy(to + r * sizeof(bits), &bits, sizeof(bits));
    // An exponent of all ones carries into bit 15.
    carry |= (bits & 0x7C00u) + 0x0400u;
  }
  return (carry & 0x8000u) == 0;
}

/// The low nibbles of `a` and above them those of `b`, and the same of the high nibbles.
HWY_INLINE void pair_nibbles(RowWords a, RowWords b, uint8_t* low_to, uint8_t* high_to) {
  const auto low = row_words(0x0F0F0F0F);
  store_row_words(hn::Or(hn::And(a, low), hn::ShiftLeft<4>(hn::And(b, low))), low_to);
  store_row_words(hn::Or(byte_field<4>(a, low), hn::AndNot(low, b)), high_to);
}

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void load_four_words(const uint8_t* const* rows, size_t at, RowWords (&words)[4]) {
  for (size_t n = 0; n < 4; ++n) {
    uint32_t word;
    std::memcpy(&word, rows[0] + at + n * sizeof(word), sizeof(word));
    words[n] = row_words(word);
  }
}

#else

/// 16 bytes of every fourth row, one after the other.
template <class D>
HWY_INLINE hn::Vec<D> load_every_fourth(D d, const uint8_t* const* rows, size_t at) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    return hn::LoadU(d, reinterpret_cast<const uint32_t*>(rows[0] + at));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_every_fourth(half, rows + hn::MaxLanes(half), at),
                       load_every_fourth(half, rows, at));
  }
}

/// In every 16 bytes, word n of vector m becomes word m of vector n.
template <class V>
HWY_INLINE void transpose_words(V (&words)[4]) {
  const hn::DFromV<V> d;
  const auto low_even = hn::InterleaveLower(d, words[0], words[2]);
  const auto low_odd = hn::InterleaveLower(d, words[1], words[3]);
  const auto high_even = hn::InterleaveUpper(d, words[0], words[2]);
  const auto high_odd = hn::InterleaveUpper(d, words[1], words[3]);
  words[0] = hn::InterleaveLower(d, low_even, low_odd);
  words[1] = hn::InterleaveUpper(d, low_even, low_odd);
  words[2] = hn::InterleaveLower(d, high_even, high_odd);
  words[3] = hn::InterleaveUpper(d, high_even, high_odd);
}

/// words[n] = word n of the 16 bytes at `at` in each row of a vector. No alignment is needed.
HWY_INLINE void load_four_words(const uint8_t* const* rows, size_t at, RowWords (&words)[4]) {
  for (size_t r = 0; r < 4; ++r) words[r] = load_every_fourth(RowTag(), rows + r, at);
  transpose_words(words);
}

#endif

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
