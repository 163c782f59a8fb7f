// How the kernels read weights in groups of 32 columns (quant/group_tiles.hpp), for one Highway
// target: codes of 4, 6 and 8 bits as unsigned or signed bytes, how their products are summed, and
// how the sum of a group becomes a float. Included once per target (hence no #pragma once).
//
// A `Codes<Dot>` reads one unit of one vector of rows:
//   kBits, kUnitQuads    the format, and the quads of a unit
//   kOffset              what every code has too much
//   Sums                 how products are summed over a group: start(rows, word of the token),
//   add(sums,
//                        codes, x, scale of the rows) and widen(sums)
//   take<quad>()         the codes of a quad

#if defined(TRILOBITE_KERNELS_GROUP_CODES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_GROUP_CODES_INL_HPP
#undef TRILOBITE_KERNELS_GROUP_CODES_INL_HPP
#else
#define TRILOBITE_KERNELS_GROUP_CODES_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "kernels/byte_dot-inl.hpp"
#include "kernels/float_io-inl.hpp"
#include "quant/group_tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// What a token brings to the sum of a group.
struct TokenFactor {
  float scale;
  float offset;  // times the minimum of the rows, where a format has one
};

#if defined(TRILOBITE_PLAIN_BYTES)

struct RowScales {
  float lane[kRowLanes];
};
inline RowScales load_scales(const float* from) {
  RowScales scales;
  std::copy_n(from, kRowLanes, scales.lane);
  return scales;
}
inline RowScales load_scales(const Float16* from) {
  RowScales scales;
  for (size_t i = 0; i < kRowLanes; ++i) scales.lane[i] = from[i].to_float();
  return scales;
}
inline RowScales load_scales(const uint8_t* from) {
  RowScales scales;
  for (size_t i = 0; i < kRowLanes; ++i) scales.lane[i] = static_cast<float>(from[i]);
  return scales;
}
inline void store_scales(RowScales scales, float* to) { std::copy_n(scales.lane, kRowLanes, to); }
inline RowScales multiply_scales(RowScales a, RowScales b) {
  for (size_t i = 0; i < kRowLanes; ++i) a.lane[i] *= b.lane[i];
  return a;
}

/// to[row] += sum * scale of the row * scale of the token, rounded at every step.
inline void add_scaled(Words sums, RowScales scales, TokenFactor token, float* to) {
  for (size_t i = 0; i < kRowLanes; ++i) {
    to[i] += static_cast<float>(sums.lane[i]) * scales.lane[i] * token.scale;
  }
}
/// to[row] += minimum of the row * offset of the token, rounded at every step.
inline void add_minimum(RowScales minimum, TokenFactor token, float* to) {
  for (size_t i = 0; i < kRowLanes; ++i) to[i] += minimum.lane[i] * token.offset;
}

inline Words zero_words() { return {}; }
inline Words load_words(const int32_t* from) {
  Words words;
  std::copy_n(from, kRowLanes, words.lane);
  return words;
}
inline void store_words(Words words, int32_t* to) { std::copy_n(words.lane, kRowLanes, to); }
inline Words add_words(Words a, Words b) {
  for (size_t i = 0; i < kRowLanes; ++i) a.lane[i] += b.lane[i];
  return a;
}
template <int kShift>
inline Words shift_words_left(Words a) {
  for (int32_t& lane : a.lane) lane *= 1 << kShift;
  return a;
}
/// Two signed bytes of each row as the 16-bit halves of a lane.
inline Words load_pairs(const int8_t* from) {
  Words pairs;
  for (size_t i = 0; i < kRowLanes; ++i) {
    pairs.lane[i] = static_cast<int32_t>(static_cast<uint32_t>(from[2 * i + 1]) << 16 |
                                         static_cast<uint16_t>(from[2 * i]));
  }
  return pairs;
}
inline Words negate_pairs(Words pairs) {
  for (int32_t& lane : pairs.lane) {
    const auto low = static_cast<uint16_t>(-static_cast<int16_t>(lane));
    lane = static_cast<int32_t>(static_cast<uint32_t>(-(lane >> 16)) << 16 | low);
  }
  return pairs;
}
inline Bytes join_upper_bits(Bytes a, Bytes b, Bytes c) {
  for (size_t i = 0; i < sizeof(a.lane); ++i) {
    a.lane[i] = static_cast<uint8_t>(a.lane[i] >> 6 | b.lane[i] >> 6 << 2 | c.lane[i] >> 6 << 4);
  }
  return a;
}

#else

using RowScales = VF32;
HWY_INLINE RowScales load_scales(const float* from) { return load(from); }
HWY_INLINE RowScales load_scales(const Float16* from) { return load(from); }
HWY_INLINE RowScales load_scales(const uint8_t* from) {
  const hn::Rebind<uint8_t, F32> d8;
  return hn::ConvertTo(F32(), hn::PromoteTo(WordsTag(), hn::LoadU(d8, from)));
}
HWY_INLINE void store_scales(RowScales scales, float* to) { store(scales, to); }
HWY_INLINE RowScales multiply_scales(RowScales a, RowScales b) { return hn::Mul(a, b); }

/// to[row] += sum * scale of the row * scale of the token, rounded at every step.
HWY_INLINE void add_scaled(Words sums, RowScales scales, TokenFactor token, float* to) {
  const auto scaled = hn::Mul(hn::ConvertTo(F32(), sums), scales);
  store(hn::Add(load(to), hn::Mul(scaled, hn::Set(F32(), token.scale))), to);
}
/// to[row] += minimum of the row * offset of the token, rounded at every step.
HWY_INLINE void add_minimum(RowScales minimum, TokenFactor token, float* to) {
  store(hn::Add(load(to), hn::Mul(minimum, hn::Set(F32(), token.offset))), to);
}

HWY_INLINE Words zero_words() { return hn::Zero(WordsTag()); }
HWY_INLINE Words load_words(const int32_t* from) { return hn::LoadU(WordsTag(), from); }
HWY_INLINE void store_words(Words words, int32_t* to) { hn::StoreU(words, WordsTag(), to); }
HWY_INLINE Words add_words(Words a, Words b) { return hn::Add(a, b); }
template <int kShift>
HWY_INLINE Words shift_words_left(Words a) {
  return hn::ShiftLeft<kShift>(a);
}

using HalvesTag = hn::ScalableTag<int16_t>;
/// Two signed bytes of each row as the 16-bit halves of a lane.
HWY_INLINE Words load_pairs(const int8_t* from) {
  const hn::Rebind<int8_t, HalvesTag> d8;
  return hn::BitCast(WordsTag(), hn::PromoteTo(HalvesTag(), hn::LoadU(d8, from)));
}
HWY_INLINE Words negate_pairs(Words pairs) {
  return hn::BitCast(WordsTag(), hn::Neg(hn::BitCast(HalvesTag(), pairs)));
}
/// The upper two bits of a, b and c, a's lowest. What is shifted has only zeros to lose below, so
/// nothing crosses from byte to byte.
HWY_INLINE Bytes join_upper_bits(Bytes a, Bytes b, Bytes c) {
  const BytesTag d;
  const hn::Repartition<uint16_t, BytesTag> d16;
  const auto lower = hn::Set(d, 0x3F);
  const auto down = [&](Bytes v)
                        HWY_ATTR { return hn::BitCast(d, hn::ShiftRight<2>(hn::BitCast(d16, v))); };
  const auto lowest = down(hn::AndNot(lower, a));
  return down(hn::Or(down(hn::Or(lowest, hn::AndNot(lower, b))), hn::AndNot(lower, c)));
}

#endif

/// The rows' part of a step where sums have no scales of their own.
struct NoScale {};

/// Sums of unsigned codes over a group: as Dot has them where all eight quads fit, else 32-bit sums
/// to which every two quads are added.
template <class Dot, size_t kMaxCode>
struct GroupSums {
  static constexpr bool kFitsGroup = Dot::max_quads(kMaxCode) >= quant::kGroupQuads;
  /// Quads that are added at a time.
  static constexpr size_t kStep = kFitsGroup ? 1 : 2;
  static_assert(Dot::max_quads(kMaxCode) >= kStep);
  using Type = std::conditional_t<kFitsGroup, typename Dot::Sums, Words>;

  /// What is broadcast to let the sum of a group start at -excess. Where lanes are two sums of 16
  /// bits, each starts at half of it: for codes up to 15, offset 8, |x| <= 127 the sum of 16
  /// products (code - 4) * x and 16 more of -4 * x stays within 16 * 15 * 127 = 30480.
  static int32_t start_word(int32_t excess) {
    if constexpr (sizeof(typename Dot::Lane) == sizeof(int32_t) || !kFitsGroup) return -excess;
    const auto half = static_cast<uint32_t>(-excess / 2) & 0xFFFF;
    return static_cast<int32_t>(half << 16 | half);
  }
  static HWY_INLINE Type start(NoScale, int32_t word) {
    if constexpr (kFitsGroup) {
      return Dot::start(word);
    } else {
      return broadcast_word(word);
    }
  }
  static HWY_INLINE void add(Type& sums, const Bytes* codes, const Bytes* x, NoScale) {
    if constexpr (kFitsGroup) {
      Dot::add(sums, codes[0], x[0]);
    } else {
      auto pairs = Dot::product(codes[0], x[0]);
      Dot::add(pairs, codes[1], x[1]);
      sums = add_words(sums, Dot::widen(pairs));
    }
  }
  static HWY_INLINE Words widen(Type sums) {
    if constexpr (kFitsGroup) {
      return Dot::widen(sums);
    } else {
      return sums;
    }
  }
};

template <class Dot>
struct SignedSums {
  static constexpr size_t kStep = 1;
  using Type = typename Dot::Signed::Sums;
  static int32_t start_word(int32_t excess) { return -excess; }
  static HWY_INLINE Type start(NoScale, int32_t word) { return broadcast_word(word); }
  static HWY_INLINE void add(Type& sums, const Bytes* codes, const Bytes* x, NoScale) {
    Dot::Signed::add(sums, codes[0], x[0]);
  }
  static HWY_INLINE Words widen(Type sums) { return sums; }
};

/// Sums of 6-bit codes in which each half of a group is multiplied by a scale of its row. Of all
/// that a group adds up to, |scale * (code - 32) * x| <= 128 * 32 * 127, 32 times, is below 2^24:
/// the sum is exact as f32 too.
template <class Dot>
struct HalfScaledSums {
  static constexpr size_t kStep = std::min<size_t>(Dot::max_quads(63), 4);
  using Type = Words;

  /// -32 * (scale * sum of the activations, over both halves).
  static HWY_INLINE Type start(Words negated_pairs, int32_t half_sums) {
    return shift_words_left<5>(dot_halves(negated_pairs, broadcast_word(half_sums)));
  }
  static HWY_INLINE Words scale_of(Words pairs, size_t half) {
    return Dot::spread_half(pairs, half);
  }
  static HWY_INLINE void add(Type& sums, const Bytes* codes, const Bytes* x, Words scale) {
    auto sum = Dot::product(codes[0], x[0]);
    for (size_t s = 1; s < kStep; ++s) Dot::add(sum, codes[s], x[s]);
    sums = add_words(sums, Dot::widen_scaled(sum, scale));
  }
  static HWY_INLINE Words widen(Type sums) { return sums; }
};

template <class Dot>
struct FourBits {
  static constexpr auto kBits = quant::GroupBits::four;
  static constexpr size_t kUnitQuads = 2;
  static constexpr int32_t kOffset = 8;
  using Sums = GroupSums<Dot, 15>;
  HWY_INLINE explicit FourBits(const uint8_t* from) : packed(load_bytes(from)) {}
  template <size_t kQuadOfUnit>
  HWY_INLINE Bytes take() const {
    return bit_field<4 * kQuadOfUnit, 15>(packed);
  }
  Bytes packed;
};

template <class Dot>
struct SixBits {
  static constexpr auto kBits = quant::GroupBits::six;
  static constexpr size_t kUnitQuads = 4;
  static constexpr int32_t kOffset = 32;
  using Sums = GroupSums<Dot, 63>;
  HWY_INLINE explicit SixBits(const uint8_t* from)
      : first(load_bytes(from)),
        second(load_bytes(from + quant::kTileBlockBytes)),
        third(load_bytes(from + 2 * quant::kTileBlockBytes)) {}
  template <size_t kQuadOfUnit>
  HWY_INLINE Bytes take() const {
    if constexpr (kQuadOfUnit == 3) {
      return join_upper_bits(first, second, third);
    } else {
      return bit_field<0, 63>(kQuadOfUnit == 0 ? first : kQuadOfUnit == 1 ? second : third);
    }
  }
  Bytes first;
  Bytes second;
  Bytes third;
};

template <class Dot>
struct EightBits {
  static constexpr auto kBits = quant::GroupBits::eight;
  static constexpr size_t kUnitQuads = 2;
  static constexpr int32_t kOffset = Dot::Signed::kOffset;
  using Sums = SignedSums<Dot>;
  HWY_INLINE explicit EightBits(const uint8_t* from)
      : first(load_bytes(from)), second(load_bytes(from + quant::kTileBlockBytes)) {}
  template <size_t kQuadOfUnit>
  HWY_INLINE Bytes take() const {
    return Dot::Signed::prepare(kQuadOfUnit == 0 ? first : second);
  }
  Bytes first;
  Bytes second;
};

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
