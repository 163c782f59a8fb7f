// Transposes 16-bit elements in registers, for one Highway target with vectors: included once per
// target (hence no #pragma once).

#if defined(TRILOBITE_KERNELS_TRANSPOSE16_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_TRANSPOSE16_INL_HPP
#undef TRILOBITE_KERNELS_TRANSPOSE16_INL_HPP
#else
#define TRILOBITE_KERNELS_TRANSPOSE16_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using U16 = hn::ScalableTag<uint16_t>;
using VU16 = hn::Vec<U16>;

inline constexpr size_t kTransposed = 8;  // elements of a line, those of a 128-bit block

/// A block of each of the lines 0, 8, 16, ... from `from` on, as many as fit into a vector.
template <class D>
HWY_INLINE hn::Vec<D> load_every_eighth_line(D d, const uint16_t* from, ptrdiff_t line_stride) {
  constexpr size_t kBlocks = hn::MaxLanes(d) / kTransposed;
  if constexpr (kBlocks == 1) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const ptrdiff_t to_upper = static_cast<ptrdiff_t>(kBlocks / 2 * kTransposed) * line_stride;
    return hn::Combine(d, load_every_eighth_line(half, from + to_upper, line_stride),
                       load_every_eighth_line(half, from, line_stride));
  }
}

/// With the bits of an element's vector and lane within its block written side by side, this turns
/// them left by one. Three times exchange vector and lane.
HWY_INLINE void interleave_halves(VU16 (&v)[kTransposed]) {
  const U16 d;
  const VU16 mixed[kTransposed] = {
      hn::InterleaveLower(d, v[0], v[4]), hn::InterleaveUpper(d, v[0], v[4]),
      hn::InterleaveLower(d, v[1], v[5]), hn::InterleaveUpper(d, v[1], v[5]),
      hn::InterleaveLower(d, v[2], v[6]), hn::InterleaveUpper(d, v[2], v[6]),
      hn::InterleaveLower(d, v[3], v[7]), hn::InterleaveUpper(d, v[3], v[7])};
  HWY_UNROLL(8)
  for (size_t i = 0; i < kTransposed; ++i) v[i] = mixed[i];
}

/// Eight elements each of as many lines as a vector has lanes: to[element][line].
HWY_INLINE void transpose_lines(const uint16_t* from, ptrdiff_t line_stride, uint16_t* to) {
  const U16 d;
  const auto lines_from = [&](ptrdiff_t line) HWY_ATTR {
    return load_every_eighth_line(d, from + line * line_stride, line_stride);
  };
  VU16 v[kTransposed] = {lines_from(0), lines_from(1), lines_from(2), lines_from(3),
                         lines_from(4), lines_from(5), lines_from(6), lines_from(7)};
  interleave_halves(v);
  interleave_halves(v);
  interleave_halves(v);
  HWY_UNROLL(8)
  for (size_t i = 0; i < kTransposed; ++i) hn::Store(v[i], d, to + i * hn::MaxLanes(d));
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
