#pragma once
// BitLinear, the layer of BitNet b1.58: (sub-norm,) activations to int8, ternary product, scales
// (, bias), for any number of tokens on a pool of threads.

#include "base/aligned_buffer.hpp"
#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "kernels/ternary_product.hpp"

namespace trilobite::kernels {

struct BitLinearCall {
  const quant::TernaryTiles& weights;
  const float* row_scales = nullptr;  // [rows]; null: `scale` for all
  float scale = 1.0f;
  const float* bias = nullptr;       // [rows] or null
  const float* norm_gain = nullptr;  // [columns]: rmsnorm comes first; null: it does not
  float norm_epsilon = 1e-5f;
  float activation_epsilon = 1e-5f;
  const float* x = nullptr;  // [tokens, columns]
  size_t tokens = 0;
  float* out = nullptr;  // [tokens, rows]
};

/// The memory a BitLinear needs besides its operands, made once and used again.
class BitLinearWorkspace {
 public:
  /// For up to `tokens` tokens of up to `columns` columns.
  static Result<BitLinearWorkspace> create(size_t tokens, size_t columns);

  size_t tokens() const { return tokens_; }
  size_t columns() const { return columns_; }

 private:
  friend Result<void> bitlinear(const BitLinearCall&, ThreadPool&, BitLinearWorkspace&);
  BitLinearWorkspace() = default;
  size_t tokens_ = 0;
  size_t columns_ = 0;
  AlignedBuffer codes_;
  AlignedBuffer scales_;
  AlignedBuffer sums_;
  AlignedBuffer normed_;
};

/// Errors: a workspace that is too small; an activation that is NaN or infinite (the outputs are
/// then not written). The result does not depend on the number of threads.
Result<void> bitlinear(const BitLinearCall& call, ThreadPool& pool, BitLinearWorkspace& workspace);

}  // namespace trilobite::kernels
