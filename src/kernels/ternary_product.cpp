#include "kernels/ternary_product.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ternary_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/fetch-inl.hpp"
#include "kernels/isa.hpp"
#include "kernels/ternary_codes-inl.hpp"
#include "kernels/write_out-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

using quant::kPanelRows;
using quant::kQuad;
using quant::kTileBlockBytes;
using quant::kTileRows;

/// How far ahead of the arithmetic the weights are fetched. The hardware prefetchers stop
/// at page boundaries and start anew; measured in docs/adr/0003.
inline constexpr size_t kPrefetchBytes = 8 * 1024;
/// Columns are taken in pieces of this many quads: so many ternary products fit 16-bit sums, and
/// the unpacked codes of a panel (16 KB) stay in L1.
inline constexpr size_t kPieceQuads = quads_in_16_bits(2);

/// A stretch of a panel: `blocks` groups of `stride` bytes, of which the kernels read the first
/// vectors. Memory `ahead` bytes further on is fetched meanwhile.
template <bool kIntoL1>
struct StretchInto {
  const uint8_t* packed;
  size_t stride;
  size_t blocks;
  size_t ahead = 0;

  static HWY_INLINE void fetch(const uint8_t* at) { fetch_weights<kIntoL1>(at); }
};

/// The same stretch from vector `v` of each group on.
template <class Stretch>
HWY_INLINE Stretch rows_from(Stretch stretch, size_t v) {
  stretch.packed += v * kVectorBytes;
  return stretch;
}

/// Activations of the tokens that a kernel works on, from the stretch's first column on.
struct Columns {
  const int8_t* x;
  size_t stride;
};

/// Sums of a register tile, for each place of the codes.
template <class Codes, class Dot, size_t kVectors, size_t kTokens>
struct PackedSums {
  typename Dot::Sums at[kVectors][kTokens][Codes::kPlaces];

  HWY_INLINE PackedSums() {
    write_out<kVectors>([&](size_t v) TRILOBITE_INLINE {
      write_out<kTokens>([&](size_t t) TRILOBITE_INLINE {
        write_out<Codes::kPlaces>([&](size_t p) TRILOBITE_INLINE { at[v][t][p] = Dot::zero(); });
      });
    });
  }
  template <size_t kPlane>
  HWY_INLINE void add(size_t v, Codes& codes, Columns from) {
    const Bytes code = codes.template take<kPlane>();
    write_out<kTokens>([&](size_t t) TRILOBITE_INLINE {
      Dot::add(at[v][t][Codes::place_of(kPlane)], code,
               broadcast_quad(from.x + t * from.stride + kPlane * kQuad));
    });
  }
  HWY_INLINE Words total(size_t v, size_t t) const {
    const auto& sums = at[v][t];
    if constexpr (Codes::kPlaces == 1) {
      return Dot::widen(sums[0]);
    } else {
      static_assert(Codes::kPlaces == 4);
      const auto low = hn::Add(sums[0], hn::ShiftRight<2>(sums[1]));
      const auto high = hn::Add(sums[2], hn::ShiftRight<2>(sums[3]));
      return hn::Add(low, hn::ShiftRight<4>(high));
    }
  }
};

/// Decodes in registers: for so few tokens that the codes are not worth a trip to memory.
/// totals[t][row] += products of kVectors vectors of rows.
template <class Codes, class Dot, size_t kVectors, size_t kTokens, class Stretch>
HWY_INLINE void add_packed(Stretch from, Columns columns, int32_t* totals) {
  PackedSums<Codes, Dot, kVectors, kTokens> sums;
  for (size_t block = 0; block < from.blocks; ++block) {
    write_out<kVectors>([&](size_t v) TRILOBITE_INLINE {
      const uint8_t* at = from.packed + v * kVectorBytes;
      if (v % kTileVectors == 0) Stretch::fetch(at + from.ahead);
      Codes codes(load_bytes(at));
      sums.template add<0>(v, codes, columns);
      sums.template add<1>(v, codes, columns);
      sums.template add<2>(v, codes, columns);
      sums.template add<3>(v, codes, columns);
      if constexpr (Codes::kPlanes == 5) sums.template add<4>(v, codes, columns);
    });
    from.packed += from.stride;
    columns.x += Codes::kPlanes * kQuad;
  }
  write_out<kVectors>([&](size_t v) TRILOBITE_INLINE {
    write_out<kTokens>([&](size_t t) TRILOBITE_INLINE {
      add_to(totals + t * kPanelRows + v * kRowLanes, sums.total(v, t));
    });
  });
}

/// codes[quad][row][4] of the first `vectors` vectors of each block.
template <class Codes, class Stretch>
HWY_INLINE void unpack(Stretch from, size_t vectors, uint8_t* codes) {
  const size_t quad_bytes = vectors * kVectorBytes;
  for (size_t block = 0; block < from.blocks; ++block) {
    for (size_t v = 0; v < vectors; ++v) {
      const uint8_t* at = from.packed + v * kVectorBytes;
      if (v % kTileVectors == 0) Stretch::fetch(at + from.ahead);
      Codes code(load_bytes(at));
      uint8_t* to = codes + v * kVectorBytes;
      store_bytes(code.template take<0>(), to);
      store_bytes(code.template take<1>(), to + quad_bytes);
      store_bytes(code.template take<2>(), to + 2 * quad_bytes);
      store_bytes(code.template take<3>(), to + 3 * quad_bytes);
      if constexpr (Codes::kPlanes == 5) {
        store_bytes(code.template take<4>(), to + 4 * quad_bytes);
      }
    }
    from.packed += from.stride;
    codes += Codes::kPlanes * quad_bytes;
  }
}

/// Sums of a register tile of unpacked codes.
template <class Dot, size_t kVectors, size_t kTokens>
struct UnpackedSums {
  typename Dot::Sums at[kVectors][kTokens];

  HWY_INLINE UnpackedSums() {
    write_out<kVectors>([&](size_t v) TRILOBITE_INLINE {
      write_out<kTokens>([&](size_t t) TRILOBITE_INLINE { at[v][t] = Dot::zero(); });
    });
  }
  HWY_INLINE void add(const uint8_t* quad, Columns columns) {
    Bytes codes[kVectors];
    write_out<kVectors>([&](size_t v)
                            TRILOBITE_INLINE { codes[v] = load_bytes(quad + v * kVectorBytes); });
    write_out<kTokens>([&](size_t t) TRILOBITE_INLINE {
      const Bytes x = broadcast_quad(columns.x + t * columns.stride);
      write_out<kVectors>([&](size_t v) TRILOBITE_INLINE { Dot::add(at[v][t], codes[v], x); });
    });
  }
};

/// totals[t][row] += products of kVectors vectors of unpacked codes; a block of them has kQuads
/// quads, all taken in one turn of the loop: instructions are what it waits for (gemm_tile.cpp says
/// when).
template <class Dot, size_t kVectors, size_t kTokens, size_t kQuads, class Stretch>
HWY_INLINE void add_unpacked(Stretch from, Columns columns, int32_t* totals) {
  UnpackedSums<Dot, kVectors, kTokens> sums;
  for (size_t block = 0; block < from.blocks; ++block) {
    write_out<kQuads>([&](size_t quad) TRILOBITE_INLINE {
      sums.add(from.packed + quad * from.stride, {columns.x + quad * kQuad, columns.stride});
    });
    from.packed += kQuads * from.stride;
    columns.x += kQuads * kQuad;
  }
  write_out<kVectors>([&](size_t v) TRILOBITE_INLINE {
    write_out<kTokens>([&](size_t t) TRILOBITE_INLINE {
      add_to(totals + t * kPanelRows + v * kRowLanes, Dot::widen(sums.at[v][t]));
    });
  });
}

/// What register tiles an instruction set has room for (sums, codes, one activation).
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kMicroVectors = 4;
inline constexpr size_t kMicroTokens = 6;
constexpr size_t packed_vectors(size_t) { return 4; }
#else
inline constexpr size_t kMicroVectors = 2;
inline constexpr size_t kMicroTokens = 6;
constexpr size_t packed_vectors(size_t tokens) { return tokens == 1 ? 8 : tokens == 2 ? 4 : 2; }
#endif
static_assert(kPanelRows / kRowLanes % kMicroVectors == 0);
/// Of `planes` unpacked quads; GCC keeps the sums of AVX-512 BW in registers with one only.
constexpr size_t quads_of_turn(size_t planes) { return HWY_TARGET == HWY_AVX3 ? 1 : planes; }

/// Places of the codes (ternary_codes-inl.hpp) for one token: 32 registers have room for four
/// vectors with four sums each. Sums of 16 bits could not hold codes of 64 and 128.
inline constexpr size_t kOneTokenPlaces = HWY_TARGET == HWY_AVX3_DL ? 4 : 1;

/// Tokens for which codes are decoded in registers.
inline constexpr size_t kMaxPackedTokens = 4;
/// Tokens that share one unpacking. Their sums (24 KB) and activations stay in L2.
inline constexpr size_t kTokenBlock = 96;

/// The rows of one panel.
struct PanelRows {
  size_t first;
  size_t count;
};

HWY_INLINE void finish_token(const TernaryCall& call, size_t token, PanelRows rows,
                             const int32_t* totals) {
  const float token_scale = call.x.scales[token];
  const int32_t offset = call.x.sums[token];
  float* out = call.out + token * call.out_stride + rows.first;
  const float* row_scales = call.row_scales == nullptr ? nullptr : call.row_scales + rows.first;
  const float* bias = call.bias == nullptr ? nullptr : call.bias + rows.first;
  for (size_t i = 0; i < rows.count; ++i) {
    const float weight_scale = row_scales == nullptr ? call.scale : row_scales[i];
    const float value = static_cast<float>(totals[i] - offset) * weight_scale * token_scale;
    out[i] = bias == nullptr ? value : value + bias[i];
  }
}

template <template <size_t> class PlacedCodes, class Dot, bool kIntoL1>
struct Product {
  using Stretch = StretchInto<kIntoL1>;
  using Codes = PlacedCodes<1>;
  static constexpr size_t kPieceBlocks = kPieceQuads / Codes::kPlanes;
  static constexpr size_t kBlockColumns = Codes::kPlanes * kQuad;
  static constexpr size_t kTurnQuads = quads_of_turn(Codes::kPlanes);
  static_assert(kPieceBlocks * Codes::kPlanes <= Dot::max_quads(2));
  /// Every piece begins with empty pipes, so longer ones are better where the sums have room.
  static constexpr size_t kPackedBlocks =
      Dot::max_quads(2) == kNoLimit ? 4 * kPieceBlocks : kPieceBlocks;

  const TernaryCall& call;
  const uint8_t* end;  // of the weights that this thread reads

  /// Up to `most` blocks of a panel from `block` on. Nothing beyond the end is fetched.
  Stretch piece_of(size_t panel, size_t block, size_t most) const {
    const size_t stride = call.weights.tiles_of_panel(panel) * kTileBlockBytes;
    const size_t blocks = std::min(most, call.weights.blocks_per_row() - block);
    const uint8_t* at = call.weights.panel(panel) + block * stride;
    const auto rest = static_cast<size_t>(end - at) - blocks * stride;
    return {at, stride, blocks, std::min(kPrefetchBytes, rest)};
  }

  PanelRows rows_of(size_t panel) const {
    const size_t first = panel * kPanelRows;
    return {first, std::min(kPanelRows, call.weights.rows() - first)};
  }
  Columns columns_of(size_t token, size_t block) const {
    return {call.x.codes + token * call.x.stride + block * kBlockColumns, call.x.stride};
  }

  template <size_t kTokens>
  HWY_INLINE void add_packed_rows(Stretch from, size_t vectors, Columns x, int32_t* totals) const {
    using Packed = PlacedCodes<kTokens == 1 ? kOneTokenPlaces : 1>;
    constexpr size_t kMain = packed_vectors(kTokens);
    size_t v = 0;
    for (; v + kMain <= vectors; v += kMain) {
      add_packed<Packed, Dot, kMain, kTokens>(rows_from(from, v), x, totals + v * kRowLanes);
    }
    for (; v < vectors; ++v) {
      add_packed<Packed, Dot, 1, kTokens>(rows_from(from, v), x, totals + v * kRowLanes);
    }
  }

  template <size_t kTokens>
  void few_tokens(size_t panel) const {
    const size_t vectors = call.weights.tiles_of_panel(panel) * kTileVectors;
    const size_t blocks = call.weights.blocks_per_row();
    HWY_ALIGN int32_t totals[kTokens * kPanelRows] = {};
    for (size_t block = 0; block < blocks; block += kPackedBlocks) {
      add_packed_rows<kTokens>(piece_of(panel, block, kPackedBlocks), vectors, columns_of(0, block),
                               totals);
    }
    for (size_t t = 0; t < kTokens; ++t) {
      finish_token(call, t, rows_of(panel), totals + t * kPanelRows);
    }
  }

  template <size_t kTokens>
  HWY_INLINE void add_unpacked_rows(Stretch from, size_t vectors, Columns x,
                                    int32_t* totals) const {
    size_t v = 0;
    for (; v + kMicroVectors <= vectors; v += kMicroVectors) {
      add_unpacked<Dot, kMicroVectors, kTokens, kTurnQuads>(rows_from(from, v), x,
                                                            totals + v * kRowLanes);
    }
    for (; v < vectors; ++v) {
      add_unpacked<Dot, 1, kTokens, kTurnQuads>(rows_from(from, v), x, totals + v * kRowLanes);
    }
  }

  /// Tokens [first, last) of one panel, at most kTokenBlock.
  void many_tokens(size_t panel, size_t first, size_t last) const {
    const size_t vectors = call.weights.tiles_of_panel(panel) * kTileVectors;
    const size_t blocks = call.weights.blocks_per_row();
    HWY_ALIGN uint8_t codes[kPieceQuads * kPanelRows * kQuad];
    HWY_ALIGN int32_t totals[kTokenBlock * kPanelRows];
    std::memset(totals, 0, (last - first) * kPanelRows * sizeof(int32_t));
    for (size_t block = 0; block < blocks; block += kPieceBlocks) {
      const Stretch piece = piece_of(panel, block, kPieceBlocks);
      unpack<Codes>(piece, vectors, codes);
      const Stretch unpacked{codes, vectors * kVectorBytes,
                             piece.blocks * Codes::kPlanes / kTurnQuads};
      size_t token = first;
      const auto at = [&] HWY_ATTR { return totals + (token - first) * kPanelRows; };
      for (; token + kMicroTokens <= last; token += kMicroTokens) {
        add_unpacked_rows<kMicroTokens>(unpacked, vectors, columns_of(token, block), at());
      }
      for (; token + 2 <= last; token += 2) {
        add_unpacked_rows<2>(unpacked, vectors, columns_of(token, block), at());
      }
      if (token < last) add_unpacked_rows<1>(unpacked, vectors, columns_of(token, block), at());
    }
    for (size_t token = first; token < last; ++token) {
      finish_token(call, token, rows_of(panel), totals + (token - first) * kPanelRows);
    }
  }

  void run(size_t first_panel, size_t last_panel) const {
    const size_t tokens = call.x.tokens;
    if (tokens > kMaxPackedTokens) {
      for (size_t first = 0; first < tokens; first += kTokenBlock) {
        const size_t last = std::min(tokens, first + kTokenBlock);
        for (size_t p = first_panel; p < last_panel; ++p) many_tokens(p, first, last);
      }
      return;
    }
    for (size_t panel = first_panel; panel < last_panel; ++panel) {
      switch (tokens) {
        case 1: few_tokens<1>(panel); break;
        case 2: few_tokens<2>(panel); break;
        case 3: few_tokens<3>(panel); break;
        case 4: few_tokens<4>(panel); break;
        default: break;
      }
    }
  }
};

template <template <size_t> class PlacedCodes, class Dot>
void run_with_codes(const TernaryCall& call, size_t first, size_t last) {
  const uint8_t* end = call.weights.panel(0) + call.weights.bytes();
  if (last < call.weights.panels()) end = call.weights.panel(last);
  if (kFetchesIntoL1) return Product<PlacedCodes, Dot, true>{call, end}.run(first, last);
  Product<PlacedCodes, Dot, false>{call, end}.run(first, last);
}

template <class Dot>
void run_with_dot(const TernaryCall& call, size_t first, size_t last) {
  if (call.weights.form() == quant::TernaryForm::two_bit) {
    return run_with_codes<TwoBits, Dot>(call, first, last);
  }
  run_with_codes<Trits, Dot>(call, first, last);
}

void ternary_product_for_target(const TernaryCall& call, size_t first, size_t last) {
#if HWY_TARGET == HWY_AVX2
  if (avx_vnni_chosen()) return run_with_dot<QuadDot>(call, first, last);
#endif
  run_with_dot<BestDot>(call, first, last);
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(ternary_product_for_target);

void ternary_product(const TernaryCall& call, size_t first_panel, size_t last_panel) {
  HWY_DYNAMIC_DISPATCH(ternary_product_for_target)(call, first_panel, last_panel);
}

void run_ternary_product(const TernaryCall& call, ThreadPool& pool) {
  // About a microsecond of work, twice what handing it to another thread costs.
  constexpr size_t kLeastProducts = size_t{1} << 17;
  const size_t panel_products = quant::kPanelRows * call.weights.columns() * call.x.tokens;
  const size_t grain = 1 + kLeastProducts / std::max<size_t>(panel_products, 1);
  pool.for_range(call.weights.panels(), grain,
                 [&](size_t first, size_t last) { ternary_product(call, first, last); });
}

}  // namespace trilobite::kernels
#endif
