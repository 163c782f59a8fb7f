// The product of one panel of weights in groups with int8 activations in groups, for one Highway
// target and any Format (group_formats-inl.hpp). Included once per target (hence no #pragma once).

#if defined(TRILOBITE_KERNELS_GROUP_PANEL_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_GROUP_PANEL_INL_HPP
#undef TRILOBITE_KERNELS_GROUP_PANEL_INL_HPP
#else
#define TRILOBITE_KERNELS_GROUP_PANEL_INL_HPP
#endif

#include <algorithm>
#include <cstring>

#include "kernels/group_product.hpp"
#include "kernels/group_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// Tokens that share one unpacking. Their sums (24 KB) and activations stay in L2.
inline constexpr size_t kTokenBlock = 96;

/// What register tiles an instruction set has room for (sums, codes, activations).
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kMicroVectors = 4;
constexpr size_t packed_vectors(size_t) { return 4; }
template <class Format>
constexpr size_t micro_tokens() {
  return Format::Sums::kStep == 1 ? 6 : 4;
}
#else
inline constexpr size_t kMicroVectors = 2;
constexpr size_t packed_vectors(size_t tokens) { return tokens == 1 ? 8 : tokens == 2 ? 4 : 2; }
/// Signed codes need a register for their magnitudes as well.
template <class Format>
constexpr size_t micro_tokens() {
  return Format::Sums::kStep == 1 && Format::kLayout.code_bits != quant::GroupBits::eight ? 6 : 4;
}
#endif

/// A panel, and what it is multiplied by.
struct PanelCall {
  const uint8_t* weights;
  size_t tiles;
  size_t rows;  // without padding
  size_t groups;
  const Int8Groups& x;
  float* out;  // of the panel's first row and the first token
  size_t out_stride;
};

/// Scales and such of up to kTokens tokens for the groups of a piece.
template <class Format, size_t kTokens>
struct TokenFactors {
  float scales[kTokens][kPieceGroups];
  int32_t starts[kTokens][kPieceGroups];
  float offsets[Format::kHasMinimum ? kTokens : 1][kPieceGroups];

  /// Tokens [first, last), groups from `group` on.
  void prepare(const PanelCall& call, size_t first, size_t last, size_t group) {
    const size_t groups = std::min(kPieceGroups, call.groups - group);
    for (size_t t = first; t < last; ++t) {
      const size_t at = t * call.groups + group;
      for (size_t g = 0; g < groups; ++g) {
        scales[t - first][g] = call.x.scales[at + g];
        if constexpr (Format::kHasPairs) {
          starts[t - first][g] = Format::start_word({0, call.x.half_sums[at + g]});
        } else {
          starts[t - first][g] = Format::start_word({call.x.sums[at + g], 0});
        }
        if constexpr (Format::kHasMinimum) {
          offsets[t - first][g] = Format::kMinimumSign *
                                  (static_cast<float>(call.x.sums[at + g]) * scales[t - first][g]);
        }
      }
    }
  }
};

template <class Format>
class Panel {
 public:
  explicit Panel(const PanelCall& call) : call_(call), vectors_(call.tiles * kTileVectors) {}

  template <size_t kTokens>
  void few_tokens() const {
    HWY_ALIGN float totals[kTokens * kPanelRows] = {};
    TokenFactors<Format, kTokens> factors;
    for (size_t group = 0; group < call_.groups; ++group) {
      const size_t inside = group % kPieceGroups;
      if (inside == 0) factors.prepare(call_, 0, kTokens, group);
      add_packed_rows<kTokens>(packed(group), tokens(factors, {0, 0, group, inside}), totals);
    }
    write(0, kTokens, totals);
  }

  /// Tokens [first, last), at most kTokenBlock.
  void many_tokens(size_t first, size_t last) const {
    HWY_ALIGN float totals[kTokenBlock * kPanelRows];
    std::memset(totals, 0, (last - first) * kPanelRows * sizeof(float));
    Piece piece;
    for (size_t group = 0; group < call_.groups; group += kPieceGroups) {
      piece.first = group;
      piece.groups = std::min(kPieceGroups, call_.groups - group);
      piece.factors.prepare(call_, first, last, group);
      for (size_t g = 0; g < piece.groups; ++g) {
        unpack<Format>(packed(group + g), vectors_, piece.group[g]);
      }
      for (size_t t = first; t < last;) {
        t += add_piece(piece, {first, t, last - t}, totals + (t - first) * kPanelRows);
      }
    }
    write(first, last, totals);
  }

 private:
  struct Piece {
    size_t first;  // group
    size_t groups;
    UnpackedGroup<Format> group[kPieceGroups];
    TokenFactors<Format, kTokenBlock> factors;
  };
  struct Tokens {
    size_t block;  // first of the block
    size_t first;
    size_t count;
  };

  PackedGroup packed(size_t group) const {
    const uint8_t* header = call_.weights + Format::kLayout.group_at(group, call_.tiles);
    return {call_.weights + Format::kLayout.super_at(group, call_.tiles), header,
            header + call_.tiles * Format::kLayout.group_header, call_.tiles * kTileRows};
  }

  /// A token and its place in the factors; a group and its place in the piece.
  struct Place {
    size_t token;
    size_t token_place;
    size_t group;
    size_t group_place;
  };
  template <size_t kTokens>
  HWY_INLINE TokenGroups tokens(const TokenFactors<Format, kTokens>& factors, Place at) const {
    const size_t stride = call_.x.stride;
    const int8_t* codes = call_.x.codes + at.token * stride + at.group * kGroupColumns;
    return {codes,
            codes + 3 * stride,
            stride,
            factors.scales[at.token_place] + at.group_place,
            factors.starts[at.token_place] + at.group_place,
            Format::kHasMinimum ? factors.offsets[at.token_place] + at.group_place : nullptr};
  }

  template <size_t kTokens>
  HWY_INLINE void add_packed_rows(PackedGroup from, const TokenGroups& x, float* totals) const {
    constexpr size_t kMain = packed_vectors(kTokens);
    constexpr size_t kRest = std::min(kMain, kTileVectors);
    const auto from_vector = [&](size_t v) HWY_ATTR {
      PackedRows<Format> rows{from, v * kRowLanes};
      rows.at.codes += Unit<Format>::offset(v);
      return rows;
    };
    size_t v = 0;
    for (; v + kMain <= vectors_; v += kMain) {
      add_packed<Format, kMain, kTokens>(from_vector(v), x, totals + v * kRowLanes);
    }
    for (; v < vectors_; v += kRest) {
      add_packed<Format, kRest, kTokens>(from_vector(v), x, totals + v * kRowLanes);
    }
  }

  /// As many tokens as a register tile has; two halves where a whole tile would leave two.
  size_t add_piece(const Piece& piece, Tokens at, float* totals) const {
    constexpr size_t kMain = micro_tokens<Format>();
    if (at.count >= kMain && at.count != kMain + 2) {
      return add_piece_tokens<kMain>(piece, at, totals);
    }
    if (at.count >= 4) return add_piece_tokens<4>(piece, at, totals);
    if (at.count >= 2) return add_piece_tokens<2>(piece, at, totals);
    return add_piece_tokens<1>(piece, at, totals);
  }

  template <size_t kTokens>
  size_t add_piece_tokens(const Piece& piece, Tokens at, float* totals) const {
    size_t v = 0;
    for (; v + kMicroVectors <= vectors_; v += kMicroVectors) {
      add_piece_rows<kMicroVectors, kTokens>(piece, at, v, totals);
    }
    if constexpr (kTileVectors % kMicroVectors != 0) {
      for (; v < vectors_; ++v) add_piece_rows<1, kTokens>(piece, at, v, totals);
    }
    return kTokens;
  }

  template <size_t kVectors, size_t kTokens>
  HWY_INLINE void add_piece_rows(const Piece& piece, Tokens at, size_t v, float* totals) const {
    for (size_t g = 0; g < piece.groups; ++g) {
      const UnpackedRows<Format> rows{piece.group[g], v * kRowLanes};
      const Place place{at.first, at.first - at.block, piece.first + g, g};
      add_unpacked<Format, kVectors, kTokens>(rows, tokens(piece.factors, place),
                                              vectors_ * kVectorBytes, totals + v * kRowLanes);
    }
  }

  void write(size_t first, size_t last, const float* totals) const {
    for (size_t token = first; token < last; ++token, totals += kPanelRows) {
      float* to = call_.out + token * call_.out_stride;
      size_t row = 0;
      for (; row + kRowLanes <= call_.rows; row += kRowLanes) {
        store_scales(load_scales(totals + row), to + row);
      }
      for (; row < call_.rows; ++row) to[row] = totals[row];
    }
  }

  const PanelCall& call_;
  size_t vectors_;
};

/// All tokens of one panel.
template <class Format>
void multiply_panel(const PanelCall& call, size_t first_token, size_t last_token) {
  const Panel<Format> panel(call);
  switch (call.x.tokens) {
    case 0: return;
    case 1: return panel.template few_tokens<1>();
    case 2: return panel.template few_tokens<2>();
    case 3: return panel.template few_tokens<3>();
    case 4: return panel.template few_tokens<4>();
    default: return panel.many_tokens(first_token, last_token);
  }
}

/// Panels [first, last) of `call.weights`: GroupTiles or BlockTiles.
template <class Format, class Call>
void multiply(const Call& call, size_t first_panel, size_t last_panel) {
  const auto& weights = call.weights;
  for (size_t token = 0; token < call.x.tokens; token += kTokenBlock) {
    for (size_t p = first_panel; p < last_panel; ++p) {
      const size_t row = p * kPanelRows;
      const PanelCall panel{.weights = weights.panel(p),
                            .tiles = weights.tiles_of_panel(p),
                            .rows = std::min(kPanelRows, weights.rows() - row),
                            .groups = weights.groups(),
                            .x = call.x,
                            .out = call.out + row,
                            .out_stride = call.out_stride};
      multiply_panel<Format>(panel, token, std::min(call.x.tokens, token + kTokenBlock));
    }
  }
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
