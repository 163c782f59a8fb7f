// Loops over register tiles, for one Highway target (hence no #pragma once).

#if defined(TRILOBITE_KERNELS_WRITE_OUT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_WRITE_OUT_INL_HPP
#undef TRILOBITE_KERNELS_WRITE_OUT_INL_HPP
#else
#define TRILOBITE_KERNELS_WRITE_OUT_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

/// f(0), f(1), ... f(kCount - 1) written out. A loop that the compiler unrolls itself comes too
/// late: the arrays in it are in memory by then, not in registers.
template <class F, size_t... kIndices>
HWY_INLINE void write_out(F f, std::index_sequence<kIndices...>) {
  (f(kIndices), ...);
}
template <size_t kCount, class F>
HWY_INLINE void write_out(F f) {
  write_out(f, std::make_index_sequence<kCount>());
}
#undef TRILOBITE_INLINE
#define TRILOBITE_INLINE HWY_ATTR __attribute__((always_inline))

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
