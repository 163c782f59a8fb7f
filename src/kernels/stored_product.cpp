#include "kernels/stored_product.hpp"

#include <algorithm>
#include <cstring>

#include "base/float16.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stored_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/stored_groups_wide-inl.hpp"
#include "kernels/stored_narrow-inl.hpp"
#include "kernels/stored_ternary_wide-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trilobite::kernels::HWY_NAMESPACE {

#if !defined(TRILOBITE_STORED_WIDE) && !defined(TRILOBITE_STORED_VECTORS)

// Plain C++, column after column: what everything else is compared with.
template <class Chunks>
void multiply_ternary(const StoredTernaryCall& call, size_t first, size_t last) {
  for (size_t row = first; row < last; ++row) {
    const uint8_t* bytes = call.weights.data + row * call.weights.row_bytes();
    for (size_t token = 0; token < call.x.tokens; ++token) {
      const int8_t* x = call.x.codes + token * call.x.stride;
      int32_t total = 0;
      for (size_t c = 0; c < call.weights.columns; ++c) {
        const size_t plane = c % kChunkColumns / 32;
        const size_t shift = 2 * (Chunks::kFirstIsLowest ? plane : 3 - plane);
        total += (bytes[Chunks::at(c / kChunkColumns) + c % 32] >> shift & 3) * x[c];
      }
      store_ternary(call, token, row, total);
    }
  }
}

/// The sum over a group of weight (with its int8 scale, where there is one) times activation.
int32_t plain_dot(StoredFormat format, const uint8_t* block, size_t group, const int8_t* x) {
  int32_t sum = 0;
  for (size_t i = 0; i < kGroupColumns; ++i) {
    int32_t weight = 0;
    if (format == StoredFormat::q4_0) {
      weight = (block[2 + i % 16] >> (i < 16 ? 0 : 4) & 15) - 8;
    } else if (format == StoredFormat::q8_0) {
      weight = static_cast<int8_t>(block[2 + i]);
    } else {
      const size_t half = group / 4, quarter = group % 4;
      const int low = block[64 * half + 32 * (quarter % 2) + i] >> (quarter < 2 ? 0 : 4) & 15;
      const int high = block[128 + 32 * half + i] >> 2 * quarter & 3;
      weight = (low + 16 * high - 32) * static_cast<int8_t>(block[192 + 2 * group + i / 16]);
    }
    sum += weight * x[i];
  }
  return sum;
}

void multiply_groups_of_format(const StoredGroupCall& call, size_t first, size_t last) {
  const auto format = call.weights.format;
  const size_t groups = call.weights.columns / kGroupColumns;
  const size_t block_groups = block_columns(format) / kGroupColumns;
  for (size_t row = first; row < last; ++row) {
    for (size_t token = 0; token < call.x.tokens; ++token) {
      float total = 0;
      for (size_t g = 0; g < groups; ++g) {
        const uint8_t* block = call.weights.data + row * call.weights.row_bytes() +
                               g / block_groups * block_bytes(format);
        Float16 scale;
        std::memcpy(&scale, block + (format == StoredFormat::q6_k ? 208 : 0), sizeof(scale));
        const int8_t* x = call.x.codes + token * call.x.stride + g * kGroupColumns;
        const auto sum = static_cast<float>(plain_dot(format, block, g % block_groups, x));
        total += sum * scale.to_float() * call.x.scales[token * groups + g];
      }
      call.out[token * call.out_stride + row] = total;
    }
  }
}

#endif

void stored_ternary_for_target(const StoredTernaryCall& call, size_t first, size_t last) {
  if (call.weights.format == StoredFormat::tq2_0) {
    return multiply_ternary<Tq2Chunks>(call, first, last);
  }
  multiply_ternary<I2sChunks>(call, first, last);
}
void stored_group_for_target(const StoredGroupCall& call, size_t first, size_t last) {
  multiply_groups_of_format(call, first, last);
}

}  // namespace trilobite::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trilobite::kernels {

HWY_EXPORT(stored_ternary_for_target);
HWY_EXPORT(stored_group_for_target);

void stored_ternary_product(const StoredTernaryCall& call, size_t first, size_t last) {
  if (first < last) HWY_DYNAMIC_DISPATCH(stored_ternary_for_target)(call, first, last);
}
void stored_group_product(const StoredGroupCall& call, size_t first, size_t last) {
  if (first < last) HWY_DYNAMIC_DISPATCH(stored_group_for_target)(call, first, last);
}

}  // namespace trilobite::kernels
#endif
