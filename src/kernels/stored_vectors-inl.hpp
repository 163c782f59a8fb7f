// Vectors that run along a row, for one Highway target (hence no #pragma once): 32 bytes where
// there are so many, 16 elsewhere. The kernels of stored rows are written on top of these.

#if defined(TRILOBITE_KERNELS_STORED_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_STORED_VECTORS_INL_HPP
#undef TRILOBITE_KERNELS_STORED_VECTORS_INL_HPP
#else
#define TRILOBITE_KERNELS_STORED_VECTORS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Columns that one step takes: a group.
inline constexpr size_t kStepColumns = 32;

#undef TRILOBITE_STORED_VECTORS
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && \
    HWY_TARGET != HWY_AVX3_DL
#define TRILOBITE_STORED_VECTORS 1

using D8 = hn::CappedTag<uint8_t, kStepColumns>;
using D16 = hn::Repartition<int16_t, D8>;
using D32 = hn::Repartition<int32_t, D8>;
using DF = hn::Repartition<float, D8>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
using VF = hn::Vec<DF>;
/// Vectors of one step, and 32-bit lanes of a vector.
inline constexpr size_t kParts = kStepColumns / hn::MaxLanes(D8());
inline constexpr size_t kLanes = hn::MaxLanes(D32());

/// A step's bytes.
struct Step {
  V8 part[kParts];
};

HWY_INLINE Step load_step(const void* from) {
  Step step;
  for (size_t p = 0; p < kParts; ++p) {
    step.part[p] = hn::LoadU(D8(), static_cast<const uint8_t*>(from) + p * kStepColumns / kParts);
  }
  return step;
}
/// The shift moves bits between the bytes of a pair; the mask must drop them.
template <int kShift, uint8_t kMask>
HWY_INLINE V8 field(V8 v) {
  static_assert(kMask <= 0xFF >> kShift);
  const hn::Repartition<uint16_t, D8> d16;
  if constexpr (kShift != 0) v = hn::BitCast(D8(), hn::ShiftRight<kShift>(hn::BitCast(d16, v)));
  return hn::And(v, hn::Set(D8(), kMask));
}

/// The two bits from kFrom on, moved to bits 4 and 5.
template <int kFrom>
HWY_INLINE V8 two_bits_at_4(V8 v) {
  const hn::Repartition<uint16_t, D8> d16;
  auto words = hn::BitCast(d16, v);
  if constexpr (kFrom < 4) words = hn::ShiftLeft<4 - kFrom>(words);
  if constexpr (kFrom > 4) words = hn::ShiftRight<kFrom - 4>(words);
  return hn::And(hn::BitCast(D8(), words), hn::Set(D8(), 0x30));
}
/// Nibbles of 16 bytes: the low ones, then the high ones.
HWY_INLINE Step load_nibbles(const uint8_t* from) {
  const hn::CappedTag<uint8_t, 16> d;
  const hn::Repartition<uint16_t, decltype(d)> d16;
  const auto low = hn::LoadU(d, from);
  const auto high = hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(d16, low)));
#if HWY_TARGET <= HWY_AVX2
  return {hn::And(hn::Combine(D8(), high, low), hn::Set(D8(), 15))};
#else
  return {hn::And(low, hn::Set(D8(), 15)), hn::And(high, hn::Set(D8(), 15))};
#endif
}
/// Sixteen numbers of 16 bits, of which two belong to each of eight steps: the first to columns 0
/// to 15, the second to columns 16 to 31. Spreads those of step kStep over the columns of a part.
template <size_t kStep>
HWY_INLINE V16 spread_halves(const int16_t* sixteen, [[maybe_unused]] size_t part) {
#if HWY_TARGET <= HWY_AVX2
  // Every half of a vector looks at the same eight numbers.
  constexpr uint32_t kFirst = 0x01000100u + 0x04040404u * (kStep % 4);
  const hn::Repartition<uint64_t, D8> d64;
  alignas(32) static constexpr uint32_t kPlaces[8] = {kFirst,
                                                      kFirst,
                                                      kFirst,
                                                      kFirst,
                                                      kFirst + 0x02020202u,
                                                      kFirst + 0x02020202u,
                                                      kFirst + 0x02020202u,
                                                      kFirst + 0x02020202u};
  const auto eight = hn::LoadDup128(D16(), sixteen + kStep / 4 * 8);
  const auto places = hn::Load(hn::Repartition<uint32_t, D8>(), kPlaces);
  return hn::BitCast(D16(),
                     hn::TableLookupBytes(hn::BitCast(d64, eight), hn::BitCast(d64, places)));
#else
  return hn::Set(D16(), sixteen[2 * kStep + part]);
#endif
}

/// Unsigned codes times signed activations, in pairs.
HWY_INLINE V16 pair_products(V8 codes, V8 x) {
#if HWY_TARGET <= HWY_AVX2
  return V16{_mm256_maddubs_epi16(codes.raw, x.raw)};
#else
  return V16{_mm_maddubs_epi16(codes.raw, x.raw)};
#endif
}
/// x, negated where the code is negative.
HWY_INLINE V8 with_sign_of(V8 codes, V8 x) {
#if HWY_TARGET <= HWY_AVX2
  return V8{_mm256_sign_epi8(x.raw, codes.raw)};
#else
  return V8{_mm_sign_epi8(x.raw, codes.raw)};
#endif
}
/// The sums of the products of neighbours.
HWY_INLINE V32 dot_pairs(V16 a, V16 b) {
#if HWY_TARGET <= HWY_AVX2
  return V32{_mm256_madd_epi16(a.raw, b.raw)};
#else
  return V32{_mm_madd_epi16(a.raw, b.raw)};
#endif
}
HWY_INLINE V32 widen(V16 pairs) { return dot_pairs(pairs, hn::Set(D16(), 1)); }

/// Lane i of the result is the sum of all lanes of v[i].
HWY_INLINE V32 sums_of(const V32 (&v)[kLanes]) {
  const hn::Repartition<int64_t, D32> d64;
  const auto of_pair = [](V32 a, V32 b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(D32(), a, b), hn::InterleaveUpper(D32(), a, b));
  };
  const auto of_four = [&](const V32* four) HWY_ATTR {
    const auto ab = hn::BitCast(d64, of_pair(four[0], four[1]));
    const auto cd = hn::BitCast(d64, of_pair(four[2], four[3]));
    return hn::Add(hn::BitCast(D32(), hn::InterleaveLower(d64, ab, cd)),
                   hn::BitCast(D32(), hn::InterleaveUpper(d64, ab, cd)));
  };
  if constexpr (kLanes == 4) {
    return of_four(v);
  } else {
    const auto low = of_four(v), high = of_four(v + 4);
    return hn::Add(hn::ConcatLowerLower(D32(), high, low), hn::ConcatUpperUpper(D32(), high, low));
  }
}

/// The f16 numbers at `at` of kLanes rows.
HWY_INLINE VF load_f16_of_rows(const uint8_t* const* rows, size_t at) {
  const auto bits = [&](size_t r) HWY_ATTR {
    uint16_t value;
    std::memcpy(&value, rows[r] + at, sizeof(value));
    return value;
  };
  __m128i all = _mm_cvtsi32_si128(bits(0));
  all = _mm_insert_epi16(all, bits(1), 1);
  all = _mm_insert_epi16(all, bits(2), 2);
  all = _mm_insert_epi16(all, bits(3), 3);
  if constexpr (kLanes == 8) {
    all = _mm_insert_epi16(all, bits(4), 4);
    all = _mm_insert_epi16(all, bits(5), 5);
    all = _mm_insert_epi16(all, bits(6), 6);
    all = _mm_insert_epi16(all, bits(7), 7);
  }
  const hn::Rebind<hwy::float16_t, DF> halves;
  return hn::PromoteTo(DF(), hn::Vec<decltype(halves)>{all});
}

#endif

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
