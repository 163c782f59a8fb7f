#include "kernels/gemm_tile.hpp"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_tile.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/float_io-inl.hpp"
#include "kernels/transpose16-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

// A tile of kTileRows x 2 vectors. Each step loads two vectors of B and multiplies them with one
// broadcast element of A per row, so the registers hold 2 kTileRows sums, 2 of B and 1 or 2
// temporaries. FMA needs 2 instructions x 4 or 5 cycles = 10 independent sums to stay busy.
//   AVX-512, 32 registers: 12 x 2 sums + 2 + 1 = 27; 14 rows leave none for the compiler.
//   AVX2,    16 registers:  6 x 2 sums + 2 + 2 = 16.
//   SSE,     16 registers:  4 x 2 sums + 2 + 2 = 12 (no FMA: products need registers as well).
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
inline constexpr size_t kTileRows = 12;
#elif HWY_TARGET == HWY_AVX2
inline constexpr size_t kTileRows = 6;
#else
inline constexpr size_t kTileRows = 4;
#endif
inline constexpr size_t kTileColumns = 2 * kLanes;

GemmTile tile_for_target() { return {kTileRows, kTileColumns}; }

float to_float(float value) { return value; }
template <typename T>
float to_float(T value) {
  return value.to_float();
}

template <typename T>
struct PanelSource {
  const T* from;
  ptrdiff_t line_stride;
  ptrdiff_t depth_stride;
  size_t lines;  // at most width
  size_t depth;
  size_t width;
};

/// Any strides, element by element.
template <typename T>
void pack_strided(const PanelSource<T>& source, size_t depth_begin, float* packed) {
  for (size_t k = depth_begin; k < source.depth; ++k) {
    const T* from = source.from + static_cast<ptrdiff_t>(k) * source.depth_stride;
    float* to = packed + k * source.width;
    for (size_t line = 0; line < source.lines; ++line) {
      to[line] = to_float(from[static_cast<ptrdiff_t>(line) * source.line_stride]);
    }
    std::fill(to + source.lines, to + source.width, 0.0f);
  }
}

/// The elements of one depth lie side by side: rows of B. All whole panels of `lines` lines
/// together, one long piece of memory after the other: panel by panel, every cache line would come
/// from another page, and no prefetcher would help.
template <typename T>
void pack_across(const PanelSource<T>& source, float* packed) {
  for (size_t k = 0; k < source.depth; ++k) {
    const T* from = source.from + static_cast<ptrdiff_t>(k) * source.depth_stride;
    float* to = packed + k * kTileColumns;
    for (size_t i = 0; i < source.lines; i += kTileColumns, to += source.depth * kTileColumns) {
      store(load(from + i), to);
      store(load(from + i + kLanes), to + kLanes);
    }
  }
}

/// The elements of one line lie side by side: rows of A. Widened a vector at a time, transposed
/// through a small buffer in the first-level cache.
template <size_t kWidth, typename T>
void pack_along(const PanelSource<T>& source, float* packed) {
  HWY_ALIGN float buffer[kWidth][kLanes] = {};
  size_t k = 0;
  for (; k + kLanes <= source.depth; k += kLanes) {
    for (size_t line = 0; line < source.lines; ++line) {
      const T* from = source.from + static_cast<ptrdiff_t>(line) * source.line_stride;
      store(load(from + k), buffer[line]);
    }
    float* to = packed + k * kWidth;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      for (size_t line = 0; line < kWidth; ++line) to[lane * kWidth + line] = buffer[line][lane];
    }
  }
  pack_strided(source, k, packed);
}

#if HWY_TARGET != HWY_SCALAR
/// The same for a whole panel of B in 16 bits, transposed before it is widened.
template <typename T>
void pack_16_bits_along(const PanelSource<T>& source, float* packed) {
  HWY_ALIGN T elements[kTransposed * kTileColumns];
  size_t k = 0;
  for (; k + kTransposed <= source.depth; k += kTransposed) {
    transpose_lines(reinterpret_cast<const uint16_t*>(source.from + k), source.line_stride,
                    reinterpret_cast<uint16_t*>(elements));
    float* to = packed + k * kTileColumns;
    HWY_UNROLL(16)
    for (size_t i = 0; i < kTransposed * kTileColumns; i += kLanes)
      store(load(elements + i), to + i);
  }
  pack_strided(source, k, packed);
}
#endif

template <typename T>
void pack_columns_along(const PanelSource<T>& source, float* packed) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == sizeof(uint16_t)) {
    if (source.lines == kTileColumns) return pack_16_bits_along(source, packed);
  }
#endif
  pack_along<kTileColumns>(source, packed);
}

struct PackBody {
  const PackCall& call;

  /// Lines from `first` on, at most `most` of them.
  template <typename T>
  PanelSource<T> lines_from(size_t first, size_t most) const {
    return {
        .from = static_cast<const T*>(call.from) + static_cast<ptrdiff_t>(first) * call.line_stride,
        .line_stride = call.line_stride,
        .depth_stride = call.depth_stride,
        .lines = std::min(most, call.lines - first),
        .depth = call.depth,
        .width = call.width};
  }

  template <typename T>
  void run() const {
    size_t first = 0;
    if (call.line_stride == 1 && call.width == kTileColumns) {
      first = call.lines / call.width * call.width;
      pack_across(lines_from<T>(0, first), call.packed);
    }
    for (; first < call.lines; first += call.width) {
      const auto source = lines_from<T>(first, call.width);
      float* packed = call.packed + first * call.depth;
      if (call.depth_stride == 1 && call.width == kTileRows) {
        pack_along<kTileRows>(source, packed);
      } else if (call.depth_stride == 1 && call.width == kTileColumns) {
        pack_columns_along(source, packed);
      } else {
        pack_strided(source, 0, packed);
      }
    }
  }
};

void pack_for_target(const PackCall& call) { with_float_type(call.dtype, PackBody{call}); }

/// Element (row, k) of a panel of A: panel[k * kTileRows + row].
struct PackedRows {
  // Where another program uses the other hardware thread of the core, the loop waits for its
  // instructions, not for its products: with one depth in a turn such a neighbour costs 24 % of the
  // speed, with four 12 % (docs/adr/0005). Of AVX-512's larger tile GCC keeps two in registers.
  static constexpr size_t kDepthsOfTurn = kTileRows > 6 ? 2 : 4;
  static constexpr size_t row_stride() { return 1; }
  static constexpr size_t depth_stride() { return kTileRows; }
};
/// Of rows where they lie: panel[row * stride + k].
struct RowsInPlace {
  static constexpr size_t kDepthsOfTurn = 1;  // more would need a register for each row's address
  size_t stride;
  size_t row_stride() const { return stride; }
  static constexpr size_t depth_stride() { return 1; }
};

/// The products of one depth.
template <class Rows>
HWY_INLINE void add_products(const float* HWY_RESTRICT a, Rows layout, const float* HWY_RESTRICT b,
                             VF32 (&sums)[kTileRows][2]) {
  const F32 d;
  const auto b0 = hn::Load(d, b);
  const auto b1 = hn::Load(d, b + kLanes);
  HWY_UNROLL(16)
  for (size_t row = 0; row < kTileRows; ++row) {
    const auto a_row = hn::Set(d, a[row * layout.row_stride()]);
    sums[row][0] = hn::MulAdd(a_row, b0, sums[row][0]);
    sums[row][1] = hn::MulAdd(a_row, b1, sums[row][1]);
  }
}

/// One tile of c (+)= a b from one panel of each.
template <class Rows>
HWY_INLINE void multiply_tile(const float* HWY_RESTRICT a, Rows layout, const PanelProduct& call,
                              const float* HWY_RESTRICT b, float* HWY_RESTRICT c) {
  const F32 d;
  VF32 sums[kTileRows][2];
  HWY_UNROLL(16)
  for (size_t row = 0; row < kTileRows; ++row) {
    sums[row][0] = hn::Zero(d);
    sums[row][1] = hn::Zero(d);
  }
  size_t k = 0;
  constexpr size_t kTurn = Rows::kDepthsOfTurn;
  for (; k + kTurn <= call.depth; k += kTurn) {
    HWY_UNROLL(4)
    for (size_t i = 0; i < kTurn; ++i)
      add_products(a + i * layout.depth_stride(), layout, b + i * kTileColumns, sums);
    a += kTurn * layout.depth_stride();
    b += kTurn * kTileColumns;
  }
  for (; k < call.depth; ++k) {
    add_products(a, layout, b, sums);
    a += layout.depth_stride();
    b += kTileColumns;
  }
  HWY_UNROLL(16)
  for (size_t row = 0; row < kTileRows; ++row) {
    float* to = c + row * call.c_stride;
    if (call.accumulate) {
      sums[row][0] = hn::Add(sums[row][0], hn::LoadU(d, to));
      sums[row][1] = hn::Add(sums[row][1], hn::LoadU(d, to + kLanes));
    }
    hn::StoreU(sums[row][0], d, to);
    hn::StoreU(sums[row][1], d, to + kLanes);
  }
}

/// The part of a tile that lies within c.
struct TilePart {
  size_t first_row;
  size_t rows;
  size_t columns;
  float* c;
};

/// A tile that reaches over the edge of c goes through a buffer.
template <class Rows>
HWY_NOINLINE void multiply_edge(const float* a, Rows layout, const PanelProduct& call,
                                const float* b, const TilePart& part) {
  HWY_ALIGN float tile[kTileRows * kTileColumns] = {};  // GCC cannot see that it is written first
  PanelProduct to_buffer = call;
  to_buffer.c_stride = kTileColumns;
  to_buffer.accumulate = false;
  multiply_tile(a, layout, to_buffer, b, tile);
  for (size_t row = 0; row < part.rows; ++row) {
    const float* from = tile + (part.first_row + row) * kTileColumns;
    float* to = part.c + row * call.c_stride;
    for (size_t i = 0; i < part.columns; ++i) to[i] = call.accumulate ? to[i] + from[i] : from[i];
  }
}

template <class Rows>
HWY_INLINE void multiply_rows(const PanelProduct& call, Rows layout) {
  constexpr bool kPacked = std::is_same_v<Rows, PackedRows>;
  const size_t line_step = kPacked ? call.depth : call.a_stride;
  for (size_t column = 0; column < call.columns; column += kTileColumns) {
    const float* b = call.b + column * call.depth;
    const size_t columns = std::min(kTileColumns, call.columns - column);
    for (size_t row = 0; row < call.rows; row += kTileRows) {
      const float* a = call.a + row * line_step;
      float* c = call.c + row * call.c_stride + column;
      const size_t rows = std::min(kTileRows, call.rows - row);
      if (rows == kTileRows && columns == kTileColumns) {
        for (size_t i = 0; i < kTileRows; ++i) hwy::Prefetch(c + i * call.c_stride);
        multiply_tile(a, layout, call, b, c);
      } else {
        // Packed panels are filled up below; in place, the tile begins as many rows above.
        const size_t missing = kPacked ? 0 : kTileRows - rows;
        multiply_edge(a - missing * line_step, layout, call, b, {missing, rows, columns, c});
      }
    }
  }
}

void multiply_for_target(const PanelProduct& call) {
  if (call.a_stride == 0) return multiply_rows(call, PackedRows());
  multiply_rows(call, RowsInPlace{call.a_stride});
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(tile_for_target);
HWY_EXPORT(pack_for_target);
HWY_EXPORT(multiply_for_target);

GemmTile gemm_tile() { return HWY_DYNAMIC_DISPATCH(tile_for_target)(); }
void pack_panels(const PackCall& call) { HWY_DYNAMIC_DISPATCH(pack_for_target)(call); }
void multiply_panels(const PanelProduct& call) { HWY_DYNAMIC_DISPATCH(multiply_for_target)(call); }

}  // namespace trilobite::kernels
#endif
