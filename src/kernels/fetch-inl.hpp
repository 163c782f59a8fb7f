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

#include "kernels/isa.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

HWY_INLINE void fetch_into_l1(const void* at) { __builtin_prefetch(at, 0, 3); }
HWY_INLINE void fetch_into_l2(const void* at) { __builtin_prefetch(at, 0, 2); }

/// Fetches weights that will be read some kilobytes of weights from now. The choice is made outside
/// of loops that have no register to spare for it.
template <bool kIntoL1>
HWY_INLINE void fetch_weights(const void* at) {
  if constexpr (kIntoL1) {
    fetch_into_l1(at);
  } else {
    fetch_into_l2(at);
  }
}
/// The same with the choice made here. The branch also keeps compilers from gathering the fetches
/// of a long loop in one place, where they would be more than a core has under way.
HWY_INLINE void fetch_weights_here(const void* at) {
  kFetchesIntoL1 ? fetch_into_l1(at) : fetch_into_l2(at);
}

/// Fetches what a linear read that is at `at` will need: `kNearBytes` further on into the first
/// level, or from far enough to cover a slow memory into the second.
template <size_t kNearBytes>
HWY_INLINE void fetch_ahead_of(const void* at) {
  constexpr size_t kFarBytes = 16 * 1024;
  if (HWY_TARGET > HWY_AVX3 || kFetchesIntoL1) {
    fetch_into_l1(static_cast<const char*>(at) + kNearBytes);
  } else {
    fetch_into_l2(static_cast<const char*>(at) + kFarBytes);
  }
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
