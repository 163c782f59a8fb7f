// The vocabulary of the products of stored rows in groups for AVX-512 with VNNI and VBMI: sums of
// eight rows out of vectors along each of them. For one Highway target (hence no #pragma once).

#if defined(TRILOBITE_KERNELS_STORED_WIDE_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_STORED_WIDE_VECTORS_INL_HPP
#undef TRILOBITE_KERNELS_STORED_WIDE_VECTORS_INL_HPP
#else
#define TRILOBITE_KERNELS_STORED_WIDE_VECTORS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "kernels/byte_dot-inl.hpp"
#include "kernels/stored_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#ifdef TRILOBITE_STORED_WIDE

/// Rows that are read together: with sixteen, these and the next ones would not fit the first level
/// of the cache, and half of the memory's speed is lost (docs/adr/0003).
inline constexpr size_t kRowsAtOnce = 8;
/// A group of all rows in one half, the next group in the other.
using PairF32 = hn::Vec<hn::ScalableTag<float>>;

/// In each 128 bits, lane r becomes the sum of the four lanes of row r.
HWY_INLINE Words sums_of_quarters(Words a, Words b, Words c, Words d) {
  const WordsTag d32;
  const hn::Repartition<int64_t, WordsTag> d64;
  const auto of_pair = [&](Words v, Words w) HWY_ATTR {
    return hn::BitCast(d64,
                       hn::Add(hn::InterleaveLower(d32, v, w), hn::InterleaveUpper(d32, v, w)));
  };
  const auto ab = of_pair(a, b), cd = of_pair(c, d);
  return hn::Add(hn::BitCast(d32, hn::InterleaveLower(d64, ab, cd)),
                 hn::BitCast(d32, hn::InterleaveUpper(d64, ab, cd)));
}

/// 128-bit quarters a and b of the first four rows, each followed by that of the last four.
template <size_t kA, size_t kB>
HWY_INLINE Words pair_of_quarters(Words first_rows, Words last_rows) {
  const auto places = _mm512_setr_epi64(2 * kA, 2 * kA + 1, 8 + 2 * kA, 9 + 2 * kA, 2 * kB,
                                        2 * kB + 1, 8 + 2 * kB, 9 + 2 * kB);
  return Words{_mm512_permutex2var_epi64(first_rows.raw, places, last_rows.raw)};
}
/// Where two quarters belong to one group: their sums.
HWY_INLINE Words pair_of_halves(Words first_rows, Words last_rows) {
  return hn::Add(pair_of_quarters<0, 2>(first_rows, last_rows),
                 pair_of_quarters<1, 3>(first_rows, last_rows));
}

HWY_INLINE Bytes load_two(const void* first, const void* second) {
  const auto low = _mm256_loadu_si256(static_cast<const __m256i*>(first));
  const auto high = _mm256_loadu_si256(static_cast<const __m256i*>(second));
  return Bytes{_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1)};
}

/// Activations of 64 columns, and what codes that are all kOffset would give: the sums start below
/// zero by that much.
struct SixtyFour {
  Bytes x;
  Words start;
};
template <uint8_t kOffset>
HWY_INLINE SixtyFour sixty_four(Bytes x) {
  return {x, hn::Neg(QuadDot::product(hn::Set(BytesTag(), kOffset), x))};
}
HWY_INLINE Words dot_from(Words start, Bytes codes, Bytes x) {
  QuadDot::add(start, codes, x);
  return start;
}

HWY_INLINE PairF32 to_f32(__m256i halves) { return PairF32{_mm512_cvtph_ps(halves)}; }

/// The f16 numbers at `at` of all rows.
HWY_INLINE __m128i load_f16_of_eight(const uint8_t* const* rows, size_t at) {
  const auto bits = [&](size_t r) HWY_ATTR {
    int16_t value;
    std::memcpy(&value, rows[r] + at, sizeof(value));
    return value;
  };
  __m128i all = _mm_cvtsi32_si128(static_cast<uint16_t>(bits(0)));
  all = _mm_insert_epi16(all, bits(1), 1);
  all = _mm_insert_epi16(all, bits(2), 2);
  all = _mm_insert_epi16(all, bits(3), 3);
  all = _mm_insert_epi16(all, bits(4), 4);
  all = _mm_insert_epi16(all, bits(5), 5);
  all = _mm_insert_epi16(all, bits(6), 6);
  return _mm_insert_epi16(all, bits(7), 7);
}
HWY_INLINE PairF32 pair_of_f16(__m128i first_group, __m128i second_group) {
  return to_f32(_mm256_inserti128_si256(_mm256_castsi128_si256(first_group), second_group, 1));
}
/// Two numbers, each for all rows.
HWY_INLINE PairF32 pair_of_scales(const float* two) {
  double both;
  std::memcpy(&both, two, sizeof(both));
  const auto halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  return PairF32{_mm512_permutexvar_ps(halves, _mm512_castpd_ps(_mm512_set1_pd(both)))};
}

/// Fetches `kBytes` of memory part by part: at once, more requests than a core keeps under way
/// would hold up the arithmetic.
template <size_t kBytes, size_t kParts>
struct Fetcher {
  const uint8_t* from;
  HWY_INLINE void fetch(size_t part) const {
    constexpr size_t kLines = (kBytes + 63) / 64;
    HWY_UNROLL(8)
    for (size_t line = kLines * part / kParts; line < kLines * (part + 1) / kParts; ++line) {
      fetch_weights_here(from + 64 * line);
    }
  }
};

#endif

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
