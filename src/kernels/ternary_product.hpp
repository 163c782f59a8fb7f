#pragma once
// Ternary weights times int8 activations: the product that low-bit inference spends its time in.

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.hpp"
#include "quant/ternary_tiles.hpp"

namespace trilobite::kernels {

/// Activations of some tokens as int8 codes: value = code / 127 * absmax, kept as code * scale.
struct Int8Rows {
  const int8_t* codes;  // [tokens][stride], zero from the last column up to the padded columns
  size_t stride;        // at least the weights' padded columns
  size_t tokens;
  const float* scales;  // [tokens]
  const int32_t* sums;  // [tokens], of the codes of each token
};

/// out[token][row] = (sum over columns of weight * code) * scale of the row * scale of the token
/// (+ bias of the row). The sum is exact; the factors are multiplied in f32, in that order.
struct TernaryCall {
  const quant::TernaryTiles& weights;
  Int8Rows x;
  const float* row_scales = nullptr;  // [rows]; null: `scale` for all
  float scale = 1.0f;
  const float* bias = nullptr;  // [rows] or null
  float* out = nullptr;
  size_t out_stride = 0;
};

/// Computes the rows of panels [first, last) for all tokens. Panels are independent: threads may
/// share them out in any way, and the result does not depend on it.
void ternary_product(const TernaryCall& call, size_t first_panel, size_t last_panel);

/// All panels, on the threads of `pool`; on the caller alone when there is too little to share.
void run_ternary_product(const TernaryCall& call, ThreadPool& pool);

}  // namespace trilobite::kernels
