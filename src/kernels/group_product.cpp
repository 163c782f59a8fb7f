#include "kernels/group_product.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/group_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "hwy/cache_control.h"
#include "kernels/group_codes-inl.hpp"
#include "kernels/isa.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

using quant::kGroupColumns;
using quant::kGroupQuads;
using quant::kPanelRows;
using quant::kQuad;
using quant::kTileBlockBytes;
using quant::kTileRows;
using quant::kTileScaleBytes;

inline constexpr size_t kVectorBytes = kRowLanes * kQuad;
/// Vectors that hold one block of a tile.
inline constexpr size_t kTileVectors = kTileBlockBytes / kVectorBytes;
/// How far ahead of the arithmetic the weights are fetched. The hardware prefetchers stop at page
/// boundaries and start anew; 1024 and 4096 are slower for some formats.
inline constexpr size_t kPrefetchBytes = 2048;
/// Groups that are unpacked at a time: their codes (16 KB for a panel) stay in L1.
inline constexpr size_t kPieceGroups = 8;
/// Tokens for which codes are decoded in registers.
inline constexpr size_t kMaxPackedTokens = 4;
/// Tokens that share one unpacking. Their sums (24 KB) and activations stay in L2.
inline constexpr size_t kTokenBlock = 96;

/// What register tiles an instruction set has room for (sums, codes, activations).
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kMicroVectors = 4;
constexpr size_t packed_vectors(size_t) { return 4; }
#else
inline constexpr size_t kMicroVectors = 2;
constexpr size_t packed_vectors(size_t tokens) { return tokens == 1 ? 8 : tokens == 2 ? 4 : 2; }
#endif
constexpr size_t micro_tokens(size_t step) { return step == 1 ? 6 : 4; }

/// The weights of one group, from some vector of rows on.
struct PackedGroup {
  const Float16* scales;
  const uint8_t* codes;
  size_t unit_stride;
};
struct UnpackedGroup {
  const float* scales;
  const uint8_t* codes;  // [quad][row][4]
  size_t quad_stride;
};

/// The activations of one group, from some token on.
struct TokenGroups {
  const int8_t* codes;
  size_t stride;
  const float* scales;
  const int32_t* sums;
  size_t groups;

  HWY_INLINE TokenGroup token(size_t t, int32_t offset) const {
    return {offset * sums[t * groups], scales[t * groups]};
  }
  HWY_INLINE TokenGroups next() const {
    return {codes + kGroupColumns, stride, scales + 1, sums + 1, groups};
  }
};

/// The sums of a register tile over one group.
template <class Codes, size_t kVectors, size_t kTokens>
struct Tile {
  using Sums = typename Codes::Sums;
  static constexpr size_t kStep = Sums::kStep;
  typename Sums::Type sums[kVectors][kTokens];

  HWY_INLINE Tile() {
    for (auto& row : sums) {
      for (auto& sum : row) sum = Sums::zero();
    }
  }
  /// Adds kStep quads, whose activations start at `x`.
  HWY_INLINE void add(size_t v, size_t t, const Bytes* codes, const int8_t* x) {
    Bytes quads[kStep];
    for (size_t s = 0; s < kStep; ++s) quads[s] = broadcast_quad(x + s * kQuad);
    Sums::add(sums[v][t], codes, quads);
  }
  template <class Scale>
  HWY_INLINE void finish(const Scale* scales, const TokenGroups& x, float* totals) const {
    HWY_UNROLL(8)
    for (size_t v = 0; v < kVectors; ++v) {
      const RowScales row_scales = load_scales(scales + v * kRowLanes);
      HWY_UNROLL(8)
      for (size_t t = 0; t < kTokens; ++t) {
        add_scaled(Sums::widen(sums[v][t]), row_scales, x.token(t, Codes::kOffset),
                   totals + t * kPanelRows + v * kRowLanes);
      }
    }
  }
};

template <class Codes>
struct Unit {
  static constexpr size_t kBytes = quant::unit_blocks(Codes::kBits) * kTileBlockBytes;
  static constexpr size_t kCount = kGroupQuads / Codes::kUnitQuads;
  static_assert(Codes::kUnitQuads * kQuad == quant::unit_columns(Codes::kBits));

  /// Where vector `v` of a unit starts.
  static constexpr size_t offset(size_t v) {
    return v / kTileVectors * kBytes + v % kTileVectors * kVectorBytes;
  }
  static HWY_INLINE void prefetch(const uint8_t* codes) {
    for (size_t at = 0; at < kBytes; at += kTileBlockBytes) {
      hwy::Prefetch(codes + at + kPrefetchBytes);
    }
  }
};

template <class Codes, size_t kVectors, size_t kTokens, size_t... kQuads>
HWY_INLINE void add_unit(Tile<Codes, kVectors, kTokens>& tile, size_t v, const Codes& codes,
                         const TokenGroups& x, std::index_sequence<kQuads...>) {
  constexpr size_t kStep = Codes::Sums::kStep;
  const Bytes quads[] = {codes.template take<kQuads>()...};
  HWY_UNROLL(4)
  for (size_t q = 0; q < Codes::kUnitQuads; q += kStep) {
    HWY_UNROLL(4)
    for (size_t t = 0; t < kTokens; ++t) {
      tile.add(v, t, quads + q, x.codes + t * x.stride + q * kQuad);
    }
  }
}

/// Decodes in registers: for so few tokens that the codes are not worth a trip to memory.
/// totals[t][row] += one group of kVectors vectors of rows.
template <class Codes, size_t kVectors, size_t kTokens>
HWY_INLINE void add_packed(PackedGroup from, const TokenGroups& x, float* totals) {
  Tile<Codes, kVectors, kTokens> tile;
  TokenGroups unit_x = x;
  // A loop: unrolled, the compiler moves all prefetches of a group to its start, and so many at
  // once are not served in time (a quarter slower).
  HWY_UNROLL(1)
  for (size_t unit = 0; unit < Unit<Codes>::kCount; ++unit) {
    HWY_UNROLL(8)
    for (size_t v = 0; v < kVectors; ++v) {
      const uint8_t* at = from.codes + Unit<Codes>::offset(v);
      if (v % kTileVectors == 0) Unit<Codes>::prefetch(at);
      add_unit(tile, v, Codes(at), unit_x, std::make_index_sequence<Codes::kUnitQuads>());
    }
    from.codes += from.unit_stride;
    unit_x.codes += Codes::kUnitQuads * kQuad;
  }
  for (size_t v = 0; v < kVectors; v += 2 * kTileVectors) {
    hwy::Prefetch(reinterpret_cast<const uint8_t*>(from.scales + v * kRowLanes) + kPrefetchBytes);
  }
  tile.finish(from.scales, x, totals);
}

/// totals[t][row] += one unpacked group of kVectors vectors of rows.
template <class Codes, size_t kVectors, size_t kTokens>
HWY_INLINE void add_unpacked(UnpackedGroup from, const TokenGroups& x, float* totals) {
  constexpr size_t kStep = Codes::Sums::kStep;
  Tile<Codes, kVectors, kTokens> tile;
  for (size_t quad = 0; quad < kGroupQuads; quad += kStep) {
    Bytes codes[kVectors][kStep];
    HWY_UNROLL(8)
    for (size_t v = 0; v < kVectors; ++v) {
      for (size_t s = 0; s < kStep; ++s) {
        codes[v][s] = load_bytes(from.codes + (quad + s) * from.quad_stride + v * kVectorBytes);
      }
    }
    HWY_UNROLL(8)
    for (size_t t = 0; t < kTokens; ++t) {
      const int8_t* at = x.codes + t * x.stride + quad * kQuad;
      HWY_UNROLL(4)
      for (size_t v = 0; v < kVectors; ++v) tile.add(v, t, codes[v], at);
    }
  }
  tile.finish(from.scales, x, totals);
}

/// Codes and scales of the first `vectors` vectors of a group, ready for add_unpacked.
template <class Codes, size_t... kQuads>
HWY_INLINE void unpack(PackedGroup from, size_t vectors, uint8_t* codes, float* scales,
                       std::index_sequence<kQuads...>) {
  const size_t quad_stride = vectors * kVectorBytes;
  for (size_t unit = 0; unit < Unit<Codes>::kCount; ++unit) {
    for (size_t v = 0; v < vectors; ++v) {
      const uint8_t* at = from.codes + Unit<Codes>::offset(v);
      if (v % kTileVectors == 0) Unit<Codes>::prefetch(at);
      const Codes code(at);
      uint8_t* to = codes + v * kVectorBytes;
      (store_bytes(code.template take<kQuads>(), to + kQuads * quad_stride), ...);
    }
    from.codes += from.unit_stride;
    codes += Codes::kUnitQuads * quad_stride;
  }
  for (size_t v = 0; v < vectors; ++v) {
    store_scales(load_scales(from.scales + v * kRowLanes), scales + v * kRowLanes);
  }
}

/// One panel of a product.
template <class Codes>
class Panel {
 public:
  Panel(const GroupCall& call, size_t index)
      : call_(call),
        first_row_(index * kPanelRows),
        from_(call.weights.panel(index)),
        tiles_(call.weights.tiles_of_panel(index)) {}

  template <size_t kTokens>
  void few_tokens() const {
    HWY_ALIGN float totals[kTokens * kPanelRows] = {};
    TokenGroups x = tokens_from(0, 0);
    for (size_t group = 0; group < groups(); ++group, x = x.next()) {
      add_packed_rows<kTokens>(packed(group), x, totals);
    }
    write(0, kTokens, totals);
  }

  /// Tokens [first, last), at most kTokenBlock.
  void many_tokens(size_t first, size_t last) const {
    HWY_ALIGN float totals[kTokenBlock * kPanelRows];
    std::memset(totals, 0, (last - first) * kPanelRows * sizeof(float));
    Piece piece;
    for (size_t group = 0; group < groups(); group += kPieceGroups) {
      piece.groups = std::min(kPieceGroups, groups() - group);
      unpack_piece(group, piece);
      constexpr size_t kMain = micro_tokens(Codes::Sums::kStep);
      size_t token = first;
      const auto take = [&]<size_t kTokens>(std::integral_constant<size_t, kTokens>) HWY_ATTR {
        for (; token + kTokens <= last; token += kTokens) {
          add_piece<kTokens>(piece, tokens_from(token, group),
                             totals + (token - first) * kPanelRows);
        }
      };
      take(std::integral_constant<size_t, kMain>());
      take(std::integral_constant<size_t, 2>());
      take(std::integral_constant<size_t, 1>());
    }
    write(first, last, totals);
  }

 private:
  struct Piece {
    size_t groups;
    HWY_ALIGN uint8_t codes[kPieceGroups][kGroupQuads * kPanelRows * kQuad];
    HWY_ALIGN float scales[kPieceGroups][kPanelRows];
  };

  size_t groups() const { return call_.weights.groups(); }
  size_t vectors() const { return tiles_ * kTileVectors; }

  PackedGroup packed(size_t group) const {
    const uint8_t* at = from_ + group * tiles_ * quant::tile_group_bytes(Codes::kBits);
    return {reinterpret_cast<const Float16*>(at), at + tiles_ * kTileScaleBytes,
            tiles_ * Unit<Codes>::kBytes};
  }
  TokenGroups tokens_from(size_t token, size_t group) const {
    const size_t at = token * groups() + group;
    return {call_.x.codes + token * call_.x.stride + group * kGroupColumns, call_.x.stride,
            call_.x.scales + at, call_.x.sums + at, groups()};
  }

  template <size_t kTokens>
  HWY_INLINE void add_packed_rows(PackedGroup from, const TokenGroups& x, float* totals) const {
    constexpr size_t kMain = packed_vectors(kTokens);
    constexpr size_t kRest = std::min(kMain, kTileVectors);
    const auto from_vector = [&](size_t v) HWY_ATTR {
      return PackedGroup{from.scales + v * kRowLanes, from.codes + Unit<Codes>::offset(v),
                         from.unit_stride};
    };
    size_t v = 0;
    for (; v + kMain <= vectors(); v += kMain) {
      add_packed<Codes, kMain, kTokens>(from_vector(v), x, totals + v * kRowLanes);
    }
    for (; v < vectors(); v += kRest) {
      add_packed<Codes, kRest, kTokens>(from_vector(v), x, totals + v * kRowLanes);
    }
  }

  void unpack_piece(size_t first_group, Piece& piece) const {
    for (size_t g = 0; g < piece.groups; ++g) {
      unpack<Codes>(packed(first_group + g), vectors(), piece.codes[g], piece.scales[g],
                    std::make_index_sequence<Codes::kUnitQuads>());
    }
  }

  template <size_t kTokens>
  HWY_INLINE void add_piece(const Piece& piece, const TokenGroups& x, float* totals) const {
    size_t v = 0;
    for (; v + kMicroVectors <= vectors(); v += kMicroVectors) {
      add_piece_rows<kMicroVectors, kTokens>(piece, v, x, totals);
    }
    for (; v < vectors(); ++v) add_piece_rows<1, kTokens>(piece, v, x, totals);
  }

  template <size_t kVectors, size_t kTokens>
  HWY_INLINE void add_piece_rows(const Piece& piece, size_t v, TokenGroups x, float* totals) const {
    for (size_t g = 0; g < piece.groups; ++g, x = x.next()) {
      const UnpackedGroup from{piece.scales[g] + v * kRowLanes, piece.codes[g] + v * kVectorBytes,
                               vectors() * kVectorBytes};
      add_unpacked<Codes, kVectors, kTokens>(from, x, totals + v * kRowLanes);
    }
  }

  void write(size_t first, size_t last, const float* totals) const {
    const size_t count = std::min(kPanelRows, call_.weights.rows() - first_row_);
    for (size_t token = first; token < last; ++token, totals += kPanelRows) {
      std::copy_n(totals, count, call_.out + token * call_.out_stride + first_row_);
    }
  }

  const GroupCall& call_;
  size_t first_row_;
  const uint8_t* from_;
  size_t tiles_;
};

template <class Codes>
void multiply(const GroupCall& call, size_t first_panel, size_t last_panel) {
  const size_t tokens = call.x.tokens;
  if (tokens > kMaxPackedTokens) {
    for (size_t first = 0; first < tokens; first += kTokenBlock) {
      const size_t last = std::min(tokens, first + kTokenBlock);
      for (size_t p = first_panel; p < last_panel; ++p) {
        Panel<Codes>(call, p).many_tokens(first, last);
      }
    }
    return;
  }
  for (size_t p = first_panel; p < last_panel; ++p) {
    const Panel<Codes> panel(call, p);
    switch (tokens) {
      case 1: panel.template few_tokens<1>(); break;
      case 2: panel.template few_tokens<2>(); break;
      case 3: panel.template few_tokens<3>(); break;
      case 4: panel.template few_tokens<4>(); break;
      default: break;
    }
  }
}

template <class Dot>
void multiply_with(const GroupCall& call, size_t first, size_t last) {
  switch (call.weights.bits()) {
    case quant::GroupBits::four: return multiply<FourBits<Dot>>(call, first, last);
    case quant::GroupBits::six: return multiply<SixBits<Dot>>(call, first, last);
    case quant::GroupBits::eight: return multiply<EightBits<Dot>>(call, first, last);
  }
}

void group_product_for_target(const GroupCall& call, size_t first, size_t last) {
#if HWY_TARGET == HWY_AVX2
  if (avx_vnni_chosen()) return multiply_with<QuadDot>(call, first, last);
#endif
  multiply_with<BestDot>(call, first, last);
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(group_product_for_target);

void group_product(const GroupCall& call, size_t first_panel, size_t last_panel) {
  HWY_DYNAMIC_DISPATCH(group_product_for_target)(call, first_panel, last_panel);
}

}  // namespace trilobite::kernels
#endif
