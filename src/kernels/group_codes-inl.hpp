// How the kernels read weights in groups of 32 columns (quant/group_tiles.hpp), for one Highway
// target: codes of 4, 6 and 8 bits as unsigned or signed bytes, how their products are summed, and
// how the sum of a group becomes a float. Included once per target (hence no #pragma once).
//
// A `Codes<Dot>` reads one unit of one vector of rows:
//   kBits, kUnitQuads    the format, and the quads of a unit
//   kOffset              what every code has too much
//   Sums                 how products are summed over a group (GroupSums or SignedSums)
//   take<quad>()         the codes of a quad

#if defined(TRILOBITE_KERNELS_GROUP_CODES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_GROUP_CODES_INL_HPP
#undef TRILOBITE_KERNELS_GROUP_CODES_INL_HPP
#else
#define TRILOBITE_KERNELS_GROUP_CODES_INL_HPP
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernels/byte_dot-inl.hpp"
#include "kernels/float_io-inl.hpp"
#include "quant/group_tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// What one token brings to the sum of a group.
struct TokenGroup {
  int32_t excess;  // what the sum has too much: the offset of the codes times the token's codes
  float scale;
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
inline void store_scales(RowScales scales, float* to) { std::copy_n(scales.lane, kRowLanes, to); }

/// to[row] += (sum - excess) * scale of the row * scale of the token, rounded at every step.
inline void add_scaled(Words sums, RowScales scales, TokenGroup token, float* to) {
  for (size_t i = 0; i < kRowLanes; ++i) {
    to[i] += static_cast<float>(sums.lane[i] - token.excess) * scales.lane[i] * token.scale;
  }
}

inline Words zero_words() { return {}; }
inline Words add_words(Words a, Words b) {
  for (size_t i = 0; i < kRowLanes; ++i) a.lane[i] += b.lane[i];
  return a;
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
HWY_INLINE void store_scales(RowScales scales, float* to) { store(scales, to); }

/// to[row] += (sum - excess) * scale of the row * scale of the token, rounded at every step.
HWY_INLINE void add_scaled(Words sums, RowScales scales, TokenGroup token, float* to) {
  const auto exact = hn::Sub(sums, hn::Set(WordsTag(), token.excess));
  const auto scaled = hn::Mul(hn::ConvertTo(F32(), exact), scales);
  store(hn::Add(load(to), hn::Mul(scaled, hn::Set(F32(), token.scale))), to);
}

HWY_INLINE Words zero_words() { return hn::Zero(WordsTag()); }
HWY_INLINE Words add_words(Words a, Words b) { return hn::Add(a, b); }

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

/// Sums of unsigned codes over a group: as Dot has them where all eight quads fit, else 32-bit sums
/// to which every two quads are added.
template <class Dot, size_t kMaxCode>
struct GroupSums {
  static constexpr bool kFitsGroup = Dot::max_quads(kMaxCode) >= quant::kGroupQuads;
  /// Quads that are added at a time.
  static constexpr size_t kStep = kFitsGroup ? 1 : 2;
  static_assert(Dot::max_quads(kMaxCode) >= kStep);
  using Type = std::conditional_t<kFitsGroup, typename Dot::Sums, Words>;

  static HWY_INLINE Type zero() {
    if constexpr (kFitsGroup) {
      return Dot::zero();
    } else {
      return zero_words();
    }
  }
  static HWY_INLINE void add(Type& sums, const Bytes* codes, const Bytes* x) {
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
  static HWY_INLINE Type zero() { return Dot::Signed::zero(); }
  static HWY_INLINE void add(Type& sums, const Bytes* codes, const Bytes* x) {
    Dot::Signed::add(sums, codes[0], x[0]);
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
