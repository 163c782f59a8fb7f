// Ternary codes out of packed bytes, for one Highway target (hence no #pragma once): `TwoBits` and
// `Trits` are made from a vector of bytes and give the codes (0, 1, 2) of their planes with
// take<0>(), take<1>(), ..., which must be called in this order. A code comes shifted left by
// 2 * place_of(plane) bits, which is 0 when they have one place. With four places it stays where it
// lies in its byte: that saves the shifts, and needs sums of its own for each place.

#if defined(TRILOBITE_KERNELS_TERNARY_CODES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_TERNARY_CODES_INL_HPP
#undef TRILOBITE_KERNELS_TERNARY_CODES_INL_HPP
#else
#define TRILOBITE_KERNELS_TERNARY_CODES_INL_HPP
#endif

#include "kernels/byte_dot-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// Four codes a byte, the first in the lowest bits.
template <size_t kPlaceCount>
struct TwoBits {
  static constexpr size_t kPlanes = 4;
  static constexpr size_t kPlaces = kPlaceCount;
  static constexpr size_t place_of(size_t plane) { return plane % kPlaces; }
  HWY_INLINE explicit TwoBits(Bytes from) : packed(from) {}
  template <size_t kPlane>
  HWY_INLINE Bytes take() {
    if constexpr (place_of(kPlane) == 0) return bit_field<2 * kPlane, 3>(packed);
    return bit_field<0, 3 << 2 * kPlane>(packed);
  }
  Bytes packed;
};

#if defined(TRILOBITE_PLAIN_BYTES)

/// The five base-3 digits of each byte, from the leading one on.
template <size_t kPlaceCount>
struct Trits {
  static_assert(kPlaceCount == 1);
  static constexpr size_t kPlanes = 5;
  static constexpr size_t kPlaces = 1;
  static constexpr size_t place_of(size_t) { return 0; }
  explicit Trits(Bytes packed) : rest(packed) {}
  template <size_t kPlane>
  Bytes take() {
    constexpr unsigned kWeights[] = {81, 27, 9, 3, 1};
    Bytes digit;
    for (size_t i = 0; i < 16; ++i) {
      digit.lane[i] = static_cast<uint8_t>(rest.lane[i] / kWeights[kPlane]);
      rest.lane[i] = static_cast<uint8_t>(rest.lane[i] % kWeights[kPlane]);
    }
    return digit;
  }
  Bytes rest;
};

#elif HWY_TARGET == HWY_AVX3_DL

/// For each number below 81 its four base-3 digits, leading one in the lowest two bits.
struct DigitTable {
  alignas(64) uint8_t codes[128] = {};
  constexpr DigitTable() {
    for (unsigned v = 0; v < 81; ++v) {
      codes[v] = static_cast<uint8_t>(v / 27 | v / 9 % 3 << 2 | v / 3 % 3 << 4 | v % 3 << 6);
    }
  }
};
inline constexpr DigitTable kDigits;

/// The five base-3 digits of each byte, from the leading one on. Two comparisons take off the
/// first; the other four come out of one table as 2-bit codes.
template <size_t kPlaceCount>
struct Trits {
  using Others = TwoBits<kPlaceCount>;
  static constexpr size_t kPlanes = 5;
  static constexpr size_t kPlaces = kPlaceCount;
  static constexpr size_t place_of(size_t plane) {
    return plane == 0 ? 0 : Others::place_of(plane - 1);
  }
  HWY_INLINE explicit Trits(Bytes packed) : others(packed) {
    const auto one = _mm512_set1_epi8(1);
    const auto at_least_1 = _mm512_cmpge_epu8_mask(packed.raw, _mm512_set1_epi8(81));
    const auto at_least_2 =
        _mm512_cmpge_epu8_mask(packed.raw, _mm512_set1_epi8(static_cast<char>(162)));
    auto digit = _mm512_maskz_mov_epi8(at_least_1, one);
    digit = _mm512_mask_add_epi8(digit, at_least_2, digit, one);
    const auto minus_81 = _mm512_set1_epi8(81);
    auto rest = _mm512_mask_sub_epi8(packed.raw, at_least_1, packed.raw, minus_81);
    rest = _mm512_mask_sub_epi8(rest, at_least_2, rest, minus_81);
    leading = Bytes{digit};
    others.packed = Bytes{_mm512_permutex2var_epi8(_mm512_load_si512(kDigits.codes), rest,
                                                   _mm512_load_si512(kDigits.codes + 64))};
  }
  template <size_t kPlane>
  HWY_INLINE Bytes take() {
    if constexpr (kPlane == 0) {
      return leading;
    } else {
      return others.template take<kPlane - 1>();
    }
  }
  Bytes leading;
  Others others;
};

#else

/// The five base-3 digits of each byte, from the leading one on: take<0>(), take<1>(), ... in
/// order. The number v below 243 becomes the fraction u = v + 1 + 13 v / 243 of 256; then the
/// leading digit is the carry of 3 u out of 8 bits, and the low 8 bits of 3 u hold the rest. Kept
/// as u - 128, because comparisons are signed; tripling leaves that form as it is.
template <size_t kPlaceCount>
struct Trits {
  static_assert(kPlaceCount == 1);
  static constexpr size_t kPlanes = 5;
  static constexpr size_t kPlaces = 1;
  static constexpr size_t place_of(size_t) { return 0; }
  using Signed = hn::ScalableTag<int8_t>;
  HWY_INLINE explicit Trits(Bytes packed) {
    const hn::Repartition<uint16_t, BytesTag> d16;
    const auto factor = hn::Set(d16, 3507);  // 13 / 243 of 65536; exact for v < 243
    const auto both = hn::BitCast(d16, packed);
    const auto even = hn::MulHigh(hn::And(both, hn::Set(d16, 0xFF)), factor);
    const auto odd = hn::MulHigh(hn::ShiftRight<8>(both), factor);
    const auto share = hn::BitCast(BytesTag(), hn::Or(even, hn::ShiftLeft<8>(odd)));
    const auto shifted = hn::Add(packed, hn::Set(BytesTag(), 1 + 128));
    fraction = hn::BitCast(Signed(), hn::Add(shifted, share));
  }
  template <size_t kPlane>
  HWY_INLINE Bytes take() {
    const Signed d;
    const auto at_least_1 = hn::VecFromMask(d, hn::Gt(fraction, hn::Set(d, 85 - 128)));
    const auto at_least_2 = hn::VecFromMask(d, hn::Gt(fraction, hn::Set(d, 170 - 128)));
    const auto digit = hn::Sub(hn::Sub(hn::Zero(d), at_least_1), at_least_2);
    fraction = hn::Add(fraction, hn::Add(fraction, fraction));
    return hn::BitCast(BytesTag(), digit);
  }
  hn::Vec<Signed> fraction;
};

#endif

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
