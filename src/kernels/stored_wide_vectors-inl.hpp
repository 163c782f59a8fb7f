// The vocabulary of the products of stored rows in groups for AVX-512 with VNNI and VBMI: sums of
// sixteen rows out of vectors along each of them. For one Highway target (hence no #pragma once).

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

inline constexpr size_t kManyRows = 16;
using ManyF32 = hn::Vec<hn::ScalableTag<float>>;

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

/// v[i] has four rows in each 128 bits; v[k] gets the 128 bits k of all sixteen.
HWY_INLINE void transpose_quarters(Words (&v)[4]) {
  const auto even01 = _mm512_shuffle_i32x4(v[0].raw, v[1].raw, 0x88);
  const auto odd01 = _mm512_shuffle_i32x4(v[0].raw, v[1].raw, 0xDD);
  const auto even23 = _mm512_shuffle_i32x4(v[2].raw, v[3].raw, 0x88);
  const auto odd23 = _mm512_shuffle_i32x4(v[2].raw, v[3].raw, 0xDD);
  v[0] = Words{_mm512_shuffle_i32x4(even01, even23, 0x88)};
  v[1] = Words{_mm512_shuffle_i32x4(odd01, odd23, 0x88)};
  v[2] = Words{_mm512_shuffle_i32x4(even01, even23, 0xDD)};
  v[3] = Words{_mm512_shuffle_i32x4(odd01, odd23, 0xDD)};
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

HWY_INLINE ManyF32 to_f32(__m256i halves) { return ManyF32{_mm512_cvtph_ps(halves)}; }

/// The f16 numbers at `at` of sixteen rows.
HWY_INLINE ManyF32 load_f16_of_many_rows(const uint8_t* const* rows, size_t at) {
  const auto eight = [&](const uint8_t* const* from) HWY_ATTR {
    const auto bits = [&](size_t r) HWY_ATTR {
      int16_t value;
      std::memcpy(&value, from[r] + at, sizeof(value));
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
  };
  return to_f32(_mm256_inserti128_si256(_mm256_castsi128_si256(eight(rows)), eight(rows + 8), 1));
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
