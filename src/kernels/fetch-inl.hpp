// Fetching weights ahead of the arithmetic, for one Highway target (hence no #pragma once). The
// hardware prefetchers stop at page boundaries and start anew; docs/adr/0003 has what was measured.

#if defined(TRILOBITE_KERNELS_FETCH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_FETCH_INL_HPP
#undef TRILOBITE_KERNELS_FETCH_INL_HPP
#else
#define TRILOBITE_KERNELS_FETCH_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

HWY_INLINE void fetch_into_l1(const void* at) { __builtin_prefetch(at, 0, 3); }
HWY_INLINE void fetch_into_l2(const void* at) { __builtin_prefetch(at, 0, 2); }

/// Fetches what a linear read that is at `at` will need: `kNearBytes` further on, which is right
/// where the first level has many requests under way. CPUs with AVX-512 are taken to have few
/// there, and the second level fetches from far enough to cover a slow memory.
template <size_t kNearBytes>
HWY_INLINE void fetch_ahead_of(const void* at) {
#if HWY_TARGET <= HWY_AVX3
  constexpr size_t kFarBytes = 16 * 1024;
  fetch_into_l2(static_cast<const char*>(at) + kFarBytes);
#else
  fetch_into_l1(static_cast<const char*>(at) + kNearBytes);
#endif
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
