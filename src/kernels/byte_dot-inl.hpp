// The vocabulary of the integer products, for one Highway target: vectors of unsigned bytes in
// which every 32-bit lane belongs to one row, and their dot product with four signed activations
// that are the same in every lane. Included once per target (hence no #pragma once).
//
// A `Dot` says how products are summed:
//   Sums, Lane    running sums of one vector of rows, and the type of its lanes
//   max_quads(c)  quads (four columns) that may be added before the sums must be widened, when
//                 no code is above c
//   zero(), start(word)   sums of 0, or whose 32 bits are all `word`
//   add(sums, codes, x)   sums += codes . x, per lane
//   product(codes, x)     the same as sums
//   widen(sums)           the sums as 32-bit lanes
//   widen_scaled(sums, scale)   those times a 16-bit factor of each lane, as spread_half makes it
//   Signed                the same for signed codes: lanes of 32 bits, no limit. It may want them
//   as
//                         unsigned codes + kOffset; prepare() makes them so
// An instruction set needs these few functions and nothing else to get all integer kernels.

#if defined(TRILOBITE_KERNELS_BYTE_DOT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_BYTE_DOT_INL_HPP
#undef TRILOBITE_KERNELS_BYTE_DOT_INL_HPP
#else
#define TRILOBITE_KERNELS_BYTE_DOT_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "quant/tile_shape.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr size_t kNoLimit = SIZE_MAX;

/// Quads that a 16-bit sum of pairs holds: each adds at most 2 * max_code * 128 in magnitude.
constexpr size_t quads_in_16_bits(size_t max_code) { return 32768 / (2 * max_code * 128); }

#undef TRILOBITE_PLAIN_BYTES
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || !HWY_ARCH_X86
#define TRILOBITE_PLAIN_BYTES 1

// Plain C++ over four rows: what everything else is compared with.
struct Bytes {
  uint8_t lane[16];
};
struct Words {
  int32_t lane[4];
};
inline constexpr size_t kRowLanes = 4;

inline Bytes load_bytes(const uint8_t* from) {
  Bytes v;
  std::memcpy(v.lane, from, sizeof(v.lane));
  return v;
}
inline void store_bytes(Bytes v, uint8_t* to) { std::memcpy(to, v.lane, sizeof(v.lane)); }
inline Bytes broadcast_quad(const int8_t* x) {
  Bytes v;
  for (size_t i = 0; i < 16; ++i) v.lane[i] = static_cast<uint8_t>(x[i % 4]);
  return v;
}
template <int kShift, uint8_t kMask>
inline Bytes bit_field(Bytes v) {
  for (auto& byte : v.lane) byte = static_cast<uint8_t>(byte >> kShift & kMask);
  return v;
}
inline Words broadcast_word(int32_t word) { return {{word, word, word, word}}; }
inline Words dot_halves(Words a, Words b) {
  Words sums;
  for (size_t i = 0; i < 4; ++i) {
    sums.lane[i] = static_cast<int16_t>(a.lane[i]) * static_cast<int16_t>(b.lane[i]) +
                   (a.lane[i] >> 16) * (b.lane[i] >> 16);
  }
  return sums;
}

/// One half of each lane as a number of 32 bits.
inline Words half_of_pairs(Words pairs, size_t half) {
  for (int32_t& lane : pairs.lane) lane = half == 0 ? static_cast<int16_t>(lane) : lane >> 16;
  return pairs;
}

struct SignedPlainDot {
  using Sums = Words;
  static constexpr int32_t kOffset = 0;
  static Bytes prepare(Bytes codes) { return codes; }
  static Sums zero() { return {}; }
  static void add(Sums& sums, Bytes codes, Bytes x) {
    for (size_t i = 0; i < 16; ++i) {
      sums.lane[i / 4] += static_cast<int8_t>(codes.lane[i]) * static_cast<int8_t>(x.lane[i]);
    }
  }
};
struct PlainDot {
  using Signed = SignedPlainDot;
  using Sums = Words;
  using Lane = int32_t;
  static constexpr size_t max_quads(size_t) { return kNoLimit; }
  static Sums zero() { return {}; }
  static Sums start(int32_t word) { return {{word, word, word, word}}; }
  static void add(Sums& sums, Bytes codes, Bytes x) {
    for (size_t i = 0; i < 16; ++i) {
      sums.lane[i / 4] += codes.lane[i] * static_cast<int8_t>(x.lane[i]);
    }
  }
  static Sums product(Bytes codes, Bytes x) {
    Sums sums{};
    add(sums, codes, x);
    return sums;
  }
  static Words widen(Sums sums) { return sums; }
  static Words spread_half(Words pairs, size_t half) { return half_of_pairs(pairs, half); }
  static Words widen_scaled(Sums sums, Words scale) {
    for (size_t i = 0; i < kRowLanes; ++i) sums.lane[i] *= scale.lane[i];
    return sums;
  }
};
using BestDot = PlainDot;

inline void add_to(int32_t* to, Words v) {
  for (size_t i = 0; i < 4; ++i) to[i] += v.lane[i];
}

#else

using BytesTag = hn::ScalableTag<uint8_t>;
using WordsTag = hn::ScalableTag<int32_t>;
using Bytes = hn::Vec<BytesTag>;
using Words = hn::Vec<WordsTag>;
inline constexpr size_t kRowLanes = hn::MaxLanes(WordsTag());

HWY_INLINE Bytes load_bytes(const uint8_t* from) { return hn::LoadU(BytesTag(), from); }
HWY_INLINE void store_bytes(Bytes v, uint8_t* to) { hn::StoreU(v, BytesTag(), to); }
HWY_INLINE Bytes broadcast_quad(const int8_t* x) {
  int32_t quad;
  std::memcpy(&quad, x, sizeof(quad));
  return hn::BitCast(BytesTag(), hn::Set(WordsTag(), quad));
}
/// The shift moves bits of the upper byte of each pair into the lower one; the mask must drop them.
template <int kShift, uint8_t kMask>
HWY_INLINE Bytes bit_field(Bytes v) {
  static_assert(kMask <= 0xFF >> kShift);
  const hn::Repartition<uint16_t, BytesTag> d16;
  if constexpr (kShift != 0) {
    v = hn::BitCast(BytesTag(), hn::ShiftRight<kShift>(hn::BitCast(d16, v)));
  }
  return hn::And(v, hn::Set(BytesTag(), kMask));
}
HWY_INLINE void add_to(int32_t* to, Words v) {
  hn::StoreU(hn::Add(hn::LoadU(WordsTag(), to), v), WordsTag(), to);
}

HWY_INLINE Words broadcast_word(int32_t word) { return hn::Set(WordsTag(), word); }
/// In each lane the products of both 16-bit halves, added.
HWY_INLINE Words dot_halves(Words a, Words b) {
#if HWY_TARGET <= HWY_AVX3
  return Words{_mm512_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return Words{_mm256_madd_epi16(a.raw, b.raw)};
#else
  return Words{_mm_madd_epi16(a.raw, b.raw)};
#endif
}

/// One half of each lane as a number of 32 bits, or in both halves.
HWY_INLINE Words half_of_pairs(Words pairs, size_t half) {
  return hn::ShiftRight<16>(half == 0 ? hn::ShiftLeft<16>(pairs) : pairs);
}
HWY_INLINE Words half_in_both(Words pairs, size_t half) {
  alignas(16) static constexpr uint8_t kPlaces[2][16] = {
      {0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13},
      {2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15}};
  const BytesTag d;
  return hn::BitCast(WordsTag(),
                     hn::TableLookupBytes(hn::BitCast(d, pairs), hn::LoadDup128(d, kPlaces[half])));
}

#if HWY_TARGET == HWY_AVX2
alignas(32) inline constexpr int16_t kOnes[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
#endif

struct SignedPairDot;

/// vpmaddubsw: pairs of products, summed in 16 bits for as long as they cannot overflow. Written as
/// assembler where there are three-operand instructions: the compiler would compute all products of
/// a step before it adds any, run out of registers, and move the sums around (a third slower).
struct PairDot {
  using Signed = SignedPairDot;
  using Tag = hn::ScalableTag<int16_t>;
  using Sums = hn::Vec<Tag>;
  using Lane = int16_t;
  static constexpr size_t max_quads(size_t max_code) { return quads_in_16_bits(max_code); }
  static HWY_INLINE Sums zero() { return hn::Zero(Tag()); }
  static HWY_INLINE Sums start(int32_t word) {
    return hn::BitCast(Tag(), hn::Set(WordsTag(), word));
  }
  static HWY_INLINE Sums product(Bytes codes, Bytes x) {
#if HWY_TARGET <= HWY_AVX3
    return Sums{_mm512_maddubs_epi16(codes.raw, x.raw)};
#elif HWY_TARGET == HWY_AVX2
    return Sums{_mm256_maddubs_epi16(codes.raw, x.raw)};
#else
    return Sums{_mm_maddubs_epi16(codes.raw, x.raw)};
#endif
  }
  static HWY_INLINE void add(Sums& sums, Bytes codes, Bytes x) {
#if HWY_TARGET <= HWY_AVX2
    Sums products;
    asm("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0"
        : "+v"(sums.raw), "=&v"(products.raw)
        : "v"(codes.raw), "v"(x.raw));
#else
    sums = hn::Add(sums, product(codes, x));
#endif
  }
  static HWY_INLINE Words widen(Sums sums) {
#if HWY_TARGET == HWY_AVX2
    // From memory: in a register of its own, the ones would push a sum out of the inner loops.
    Words wide;
    asm("vpmaddwd %2, %1, %0"
        : "=x"(wide.raw)
        : "x"(sums.raw), "m"(*reinterpret_cast<const __m256i*>(kOnes)));
    return wide;
#else
    return dot_halves(hn::BitCast(WordsTag(), sums), hn::BitCast(WordsTag(), hn::Set(Tag(), 1)));
#endif
  }
  /// One instruction widens and multiplies.
  static HWY_INLINE Words spread_half(Words pairs, size_t half) {
    return half_in_both(pairs, half);
  }
  static HWY_INLINE Words widen_scaled(Sums sums, Words scale) {
    return dot_halves(hn::BitCast(WordsTag(), sums), scale);
  }
};

/// Signed codes as magnitudes, their signs moved to the activations. A pair of products is at most
/// 2 * 128 * 127 = 32512, which fits 16 bits as long as no activation is -128; a second pair does
/// not, so every quad is widened.
struct SignedPairDot {
  using Sums = Words;
  static constexpr int32_t kOffset = 0;
  static HWY_INLINE Bytes prepare(Bytes codes) { return codes; }
  static HWY_INLINE Sums zero() { return hn::Zero(WordsTag()); }
  static HWY_INLINE void add(Sums& sums, Bytes codes, Bytes x) {
    const hn::RebindToSigned<BytesTag> d;
    const auto magnitudes = hn::BitCast(BytesTag(), hn::Abs(hn::BitCast(d, codes)));
    const auto pairs = PairDot::product(magnitudes, with_sign_of(codes, x));
    sums = hn::Add(sums, PairDot::widen(pairs));
  }

 private:
  /// x, negated where the code is negative (where it is 0, anything will do).
  static HWY_INLINE Bytes with_sign_of(Bytes codes, Bytes x) {
#if HWY_TARGET <= HWY_AVX3
    const auto is_negative = _mm512_movepi8_mask(codes.raw);
    return Bytes{_mm512_mask_sub_epi8(x.raw, is_negative, _mm512_setzero_si512(), x.raw)};
#elif HWY_TARGET == HWY_AVX2
    return Bytes{_mm256_sign_epi8(x.raw, codes.raw)};
#else
    return Bytes{_mm_sign_epi8(x.raw, codes.raw)};
#endif
  }
};

#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2

struct SignedQuadDot;

/// vpdpbusd: four products added to each 32-bit lane at once. Written as assembler because
/// Highway's target strings leave VNNI out, and AVX-VNNI is not a target of its own.
struct QuadDot {
  using Signed = SignedQuadDot;
  using Sums = Words;
  using Lane = int32_t;
  static constexpr size_t max_quads(size_t) { return kNoLimit; }
  static HWY_INLINE Sums zero() { return hn::Zero(WordsTag()); }
  static HWY_INLINE Sums start(int32_t word) { return hn::Set(WordsTag(), word); }
  static HWY_INLINE void add(Sums& sums, Bytes codes, Bytes x) {
#if HWY_TARGET == HWY_AVX3_DL
    asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(codes.raw), "v"(x.raw));
#else
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(codes.raw), "x"(x.raw));
#endif
  }
  static HWY_INLINE Sums product(Bytes codes, Bytes x) {
    auto sums = zero();
    add(sums, codes, x);
    return sums;
  }
  static HWY_INLINE Words widen(Sums sums) { return sums; }
  static HWY_INLINE Words spread_half(Words pairs, size_t half) {
    return half_of_pairs(pairs, half);
  }
  static HWY_INLINE Words widen_scaled(Sums sums, Words scale) { return hn::Mul(sums, scale); }
};

struct SignedQuadDot {
  using Sums = Words;
  static constexpr int32_t kOffset = 128;
  static HWY_INLINE Bytes prepare(Bytes codes) {
    return hn::Xor(codes, hn::Set(BytesTag(), uint8_t{kOffset}));
  }
  static HWY_INLINE Sums zero() { return QuadDot::zero(); }
  static HWY_INLINE void add(Sums& sums, Bytes codes, Bytes x) { QuadDot::add(sums, codes, x); }
};

#endif
#if HWY_TARGET == HWY_AVX3_DL
using BestDot = QuadDot;
#else
using BestDot = PairDot;
#endif

#endif

inline constexpr size_t kVectorBytes = kRowLanes * quant::kQuad;
/// Vectors that hold one block of a tile.
inline constexpr size_t kTileVectors = quant::kTileBlockBytes / kVectorBytes;

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
