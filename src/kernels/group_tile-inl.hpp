// Register tiles of the product of weights in groups with int8 activations in groups, for one
// Highway target and any Format (group_formats-inl.hpp). Included once per target (hence no #pragma
// once).

#if defined(TRILOBITE_KERNELS_GROUP_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_GROUP_TILE_INL_HPP
#undef TRILOBITE_KERNELS_GROUP_TILE_INL_HPP
#else
#define TRILOBITE_KERNELS_GROUP_TILE_INL_HPP
#endif

#include <utility>

#include "kernels/fetch-inl.hpp"
#include "kernels/group_formats-inl.hpp"
#include "kernels/write_out-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

using quant::kGroupColumns;
using quant::kGroupQuads;
using quant::kPanelRows;
using quant::kQuad;
using quant::kTileBlockBytes;
using quant::kTileRows;

/// How far ahead weights are fetched into L1; 1024 and 4096 are slower for some formats.
inline constexpr size_t kNearBytes = 2048;
/// Groups that are taken at a time: unpacked, their codes (16 KB for a panel) stay in L1.
/// Super-blocks are as long.
inline constexpr size_t kPieceGroups = 8;

/// The activations of one group, from some token on.
struct TokenGroups {
  const int8_t* codes;
  const int8_t* later_codes;  // from the fourth token on: fewer addresses to keep
  size_t stride;
  const float* scales;    // [token][kPieceGroups]
  const int32_t* starts;  // [token][kPieceGroups]
  const float* offsets;   // [token][kPieceGroups], where rows have a minimum

  HWY_INLINE const int8_t* quad(size_t t, size_t column) const {
    return (t < 3 ? codes + t * stride : later_codes + (t - 3) * stride) + column;
  }
  template <class Format>
  HWY_INLINE TokenFactor factor(size_t t) const {
    if constexpr (Format::kHasMinimum) {
      return {scales[t * kPieceGroups], offsets[t * kPieceGroups]};
    } else {
      return {scales[t * kPieceGroups], 0};
    }
  }
};

template <class Format>
struct Unit {
  using Codes = typename Format::Codes;
  static constexpr size_t kBytes = quant::unit_blocks(Codes::kBits) * kTileBlockBytes;
  static constexpr size_t kCount = kGroupQuads / Codes::kUnitQuads;
  static_assert(Codes::kUnitQuads * kQuad == quant::unit_columns(Codes::kBits));

  /// Where vector `v` of a unit starts.
  static constexpr size_t offset(size_t v) {
    return v / kTileVectors * kBytes + v % kTileVectors * kVectorBytes;
  }
  static HWY_INLINE void prefetch(const uint8_t* codes) {
    for (size_t at = 0; at < kBytes; at += kTileBlockBytes) {
      fetch_ahead_of<kNearBytes>(codes + at);
    }
  }
};

/// Vectors of rows of a packed group.
template <class Format>
struct PackedRows {
  PackedGroup at;
  size_t first;          // row
  size_t unit_quad = 0;  // where at.codes starts

  HWY_INLINE size_t row(size_t v) const { return first + v * kRowLanes; }
  HWY_INLINE RowFactors factors(size_t v) const { return Format::factors(at, row(v)); }
  HWY_INLINE auto start(size_t v) const {
    if constexpr (Format::kHasPairs) {
      return negate_pairs(Format::pairs(at, row(v)));
    } else {
      return NoScale();
    }
  }
  /// For the quads from `quad` on.
  HWY_INLINE auto scale(size_t v, size_t quad) const {
    if constexpr (Format::kHasPairs) {
      return Format::Sums::scale_of(Format::pairs(at, row(v)), quad / (kGroupQuads / 2));
    } else {
      return NoScale();
    }
  }
};

/// A group of a panel, unpacked.
template <class Format>
struct UnpackedGroup {
  HWY_ALIGN uint8_t codes[kGroupQuads * kPanelRows * kQuad];  // [quad][row][4]
  HWY_ALIGN float scales[kPanelRows];
  HWY_ALIGN float minima[Format::kHasMinimum ? kPanelRows : 1];
  HWY_ALIGN int32_t starts[Format::kHasPairs ? kPanelRows : 1];
  HWY_ALIGN int32_t half_scales[2][Format::kHasPairs ? kPanelRows : 1];
};

/// Vectors of rows of an unpacked group.
template <class Format>
struct UnpackedRows {
  const UnpackedGroup<Format>& group;
  size_t first;  // row

  HWY_INLINE RowFactors factors(size_t v) const {
    const size_t row = first + v * kRowLanes;
    if constexpr (Format::kHasMinimum) {
      return {load_scales(group.scales + row), load_scales(group.minima + row)};
    } else {
      const auto scale = load_scales(group.scales + row);
      return {scale, scale};
    }
  }
  HWY_INLINE auto start(size_t v) const {
    if constexpr (Format::kHasPairs) {
      return load_words(group.starts + first + v * kRowLanes);
    } else {
      return NoScale();
    }
  }
  HWY_INLINE auto scale(size_t v, size_t quad) const {
    if constexpr (Format::kHasPairs) {
      return load_words(group.half_scales[quad / (kGroupQuads / 2)] + first + v * kRowLanes);
    } else {
      return NoScale();
    }
  }
};

/// The sums of a register tile over one group.
template <class Format, size_t kVectors, size_t kTokens>
struct Tile {
  using Sums = typename Format::Sums;
  static constexpr size_t kStep = Sums::kStep;
  typename Sums::Type sums[kVectors][kTokens];

  template <class Rows>
  HWY_INLINE Tile(const Rows& rows, const TokenGroups& x) {
    write_out<kTokens>([&](size_t t) TRILOBITE_INLINE {
      write_out<kVectors>([&](size_t v) TRILOBITE_INLINE {
        sums[v][t] = Sums::start(rows.start(v), x.starts[t * kPieceGroups]);
      });
    });
  }
  /// Adds kStep quads, whose activations start at `x`.
  template <class Scale>
  HWY_INLINE void add(size_t v, size_t t, const Bytes* codes, const int8_t* x, Scale scale) {
    Bytes quads[kStep];
    write_out<kStep>([&](size_t s) TRILOBITE_INLINE { quads[s] = broadcast_quad(x + s * kQuad); });
    Sums::add(sums[v][t], codes, quads, scale);
  }
  template <class Rows>
  HWY_INLINE void finish(const Rows& rows, const TokenGroups& x, float* totals) const {
    write_out<kVectors>([&](size_t v) TRILOBITE_INLINE {
      const RowFactors factors = rows.factors(v);
      write_out<kTokens>([&](size_t t) TRILOBITE_INLINE {
        float* to = totals + t * kPanelRows + v * kRowLanes;
        const TokenFactor token = x.template factor<Format>(t);
        add_scaled(Sums::widen(sums[v][t]), factors.scale, token, to);
        if constexpr (Format::kHasMinimum) add_minimum(factors.minimum, token, to);
      });
    });
  }
};

template <class Format, size_t kVectors, size_t kTokens, size_t... kQuads>
HWY_INLINE void add_unit(Tile<Format, kVectors, kTokens>& tile, size_t v,
                         const PackedRows<Format>& rows, const TokenGroups& x,
                         std::index_sequence<kQuads...>) {
  using Codes = typename Format::Codes;
  constexpr size_t kStep = Format::Sums::kStep;
  const Codes codes(rows.at.codes + Unit<Format>::offset(v));
  const Bytes quads[] = {codes.template take<kQuads>()...};
  const auto scale = rows.scale(v, rows.unit_quad);
  write_out<Codes::kUnitQuads / kStep>([&](size_t step) TRILOBITE_INLINE {
    write_out<kTokens>([&](size_t t) TRILOBITE_INLINE {
      const size_t q = step * kStep;
      tile.add(v, t, quads + q, x.quad(t, (rows.unit_quad + q) * kQuad), scale);
    });
  });
}

/// Decodes in registers: for so few tokens that the codes are not worth a trip to memory.
/// totals[t][row] += one group of kVectors vectors of rows.
template <class Format, size_t kVectors, size_t kTokens>
HWY_INLINE void add_packed(PackedRows<Format> rows, const TokenGroups& x, float* totals) {
  using Codes = typename Format::Codes;
  Tile<Format, kVectors, kTokens> tile(rows, x);
  // A loop: unrolled, the compiler moves all prefetches of a group to its start, and so many at
  // once are not served in time (a quarter slower).
  HWY_UNROLL(1)
  for (size_t unit = 0; unit < Unit<Format>::kCount; ++unit) {
    write_out<kVectors>([&](size_t v) TRILOBITE_INLINE {
      if (v % kTileVectors == 0) Unit<Format>::prefetch(rows.at.codes + Unit<Format>::offset(v));
      add_unit(tile, v, rows, x, std::make_index_sequence<Codes::kUnitQuads>());
    });
    rows.at.codes += rows.at.rows / kTileRows * Unit<Format>::kBytes;
    rows.unit_quad += Codes::kUnitQuads;
  }
  for (size_t v = 0; v < kVectors; v += 2 * kTileVectors) {
    fetch_ahead_of<kNearBytes>(rows.at.header + rows.row(v) * sizeof(Float16));
  }
  tile.finish(rows, x, totals);
}

/// totals[t][row] += one unpacked group of kVectors vectors of rows.
template <class Format, size_t kVectors, size_t kTokens>
HWY_INLINE void add_unpacked(const UnpackedRows<Format>& rows, const TokenGroups& x,
                             size_t quad_stride, float* totals) {
  constexpr size_t kStep = Format::Sums::kStep;
  Tile<Format, kVectors, kTokens> tile(rows, x);
  const uint8_t* from = rows.group.codes + rows.first * kQuad;
  HWY_UNROLL(1)
  for (size_t quad = 0; quad < kGroupQuads; quad += kStep) {
    Bytes codes[kVectors][kStep];
    write_out<kVectors>([&](size_t v) TRILOBITE_INLINE {
      write_out<kStep>([&](size_t s) TRILOBITE_INLINE {
        codes[v][s] = load_bytes(from + s * quad_stride + v * kVectorBytes);
      });
    });
    write_out<kTokens>([&](size_t t) TRILOBITE_INLINE {
      write_out<kVectors>([&](size_t v) TRILOBITE_INLINE {
        tile.add(v, t, codes[v], x.quad(t, quad * kQuad), rows.scale(v, quad));
      });
    });
    from += kStep * quad_stride;
  }
  tile.finish(rows, x, totals);
}

/// Codes of the first `vectors` vectors of a group.
template <class Format, size_t... kQuads>
HWY_INLINE void unpack_codes(const uint8_t* from, size_t vectors, uint8_t* codes,
                             std::index_sequence<kQuads...>) {
  const size_t quad_stride = vectors * kVectorBytes;
  for (size_t unit = 0; unit < Unit<Format>::kCount; ++unit) {
    for (size_t v = 0; v < vectors; ++v) {
      const uint8_t* at = from + Unit<Format>::offset(v);
      if (v % kTileVectors == 0) Unit<Format>::prefetch(at);
      const typename Format::Codes code(at);
      uint8_t* to = codes + v * kVectorBytes;
      (store_bytes(code.template take<kQuads>(), to + kQuads * quad_stride), ...);
    }
    from += vectors / kTileVectors * Unit<Format>::kBytes;
    codes += sizeof...(kQuads) * quad_stride;
  }
}

template <class Format>
HWY_INLINE void unpack(const PackedGroup& from, size_t vectors, UnpackedGroup<Format>& to) {
  unpack_codes<Format>(from.codes, vectors, to.codes,
                       std::make_index_sequence<Format::Codes::kUnitQuads>());
  const PackedRows<Format> rows{from, 0};
  for (size_t v = 0; v < vectors; ++v) {
    const size_t row = v * kRowLanes;
    const RowFactors factors = rows.factors(v);
    store_scales(factors.scale, to.scales + row);
    if constexpr (Format::kHasMinimum) store_scales(factors.minimum, to.minima + row);
    if constexpr (Format::kHasPairs) {
      store_words(rows.start(v), to.starts + row);
      for (size_t half = 0; half < 2; ++half) {
        store_words(rows.scale(v, half * kGroupQuads / 2), to.half_scales[half] + row);
      }
    }
  }
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
