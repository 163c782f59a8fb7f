// What all kernels of stored rows share, for one Highway target (hence no #pragma once).

#if defined(TRILOBITE_KERNELS_STORED_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TRILOBITE_KERNELS_STORED_ROWS_INL_HPP
#undef TRILOBITE_KERNELS_STORED_ROWS_INL_HPP
#else
#define TRILOBITE_KERNELS_STORED_ROWS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "kernels/fetch-inl.hpp"
#include "kernels/stored_product.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

#undef TRILOBITE_STORED_WIDE
#if HWY_TARGET == HWY_AVX3_DL
#define TRILOBITE_STORED_WIDE 1
#endif

using quant::kGroupColumns;

/// How far ahead of the arithmetic memory is fetched.
inline constexpr size_t kFetchAhead = 8 * 1024;

/// 128 columns in 32 bytes: the four codes of a byte are 32 columns apart.
inline constexpr size_t kChunkColumns = 128;

struct Tq2Chunks {
  static constexpr bool kFirstIsLowest = true;
  static size_t at(size_t chunk) { return chunk / 2 * 66 + chunk % 2 * 32; }
};
struct I2sChunks {
  static constexpr bool kFirstIsLowest = false;
  static size_t at(size_t chunk) { return chunk * 32; }
};

HWY_INLINE void store_ternary(const StoredTernaryCall& call, size_t token, size_t row,
                              int32_t total) {
  const float weight_scale = call.row_scales == nullptr ? call.scale : call.row_scales[row];
  call.out[token * call.out_stride + row] =
      static_cast<float>(total - call.x.sums[token]) * weight_scale * call.x.scales[token];
}

/// Pointers to `count` rows from `first` on; the last one stands in for those that do not exist.
template <size_t kCount>
HWY_INLINE void find_rows(const StoredRows& weights, size_t first, size_t last,
                          const uint8_t* (&rows)[kCount]) {
  for (size_t r = 0; r < kCount; ++r) {
    rows[r] = weights.data + std::min(first + r, last - 1) * weights.row_bytes();
  }
}

/// The beginning of what is then fetched step by step, for rows of which `at_a_time` are read
/// together.
HWY_NOINLINE void fetch_first_rows(const StoredRows& weights, size_t first, size_t last,
                                   size_t at_a_time) {
  const size_t row = weights.row_bytes();
  const uint8_t* from = weights.data + first * row;
  const size_t bytes = std::min((last - first) * row, (at_a_time - 1) * row + kFetchAhead);
  for (size_t at = 0; at < bytes; at += 64) fetch_weights_here(from + at);
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
