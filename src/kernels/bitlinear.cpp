#include "kernels/bitlinear.hpp"

#include <fmt/format.h>

#include <atomic>

#include "kernels/absmax.hpp"
#include "kernels/rows.hpp"

namespace trilobite::kernels {
namespace {

/// Rows of activations start on a cache line of their own, and reach to the end of the last block
/// of either packing (16 or 20 columns).
size_t code_stride(size_t columns) { return (columns + 20 + 63) / 64 * 64; }

/// Where one token's activations go.
struct TokenCodes {
  int8_t* codes;
  float* scale;
  int32_t* sum;
  float* normed;  // [columns], for the sub-norm
};

/// False when the token has a value that is not finite.
bool quantize_token(const BitLinearCall& call, size_t token, const TokenCodes& to) {
  const size_t columns = call.weights.columns();
  const float* x = call.x + token * columns;
  if (call.norm_gain != nullptr) {
    rmsnorm({.dtype = DType::f32,
             .x = x,
             .weight = call.norm_gain,
             .bias = nullptr,
             .out = to.normed,
             .rows = 1,
             .columns = columns,
             .epsilon = call.norm_epsilon});
    x = to.normed;
  }
  const auto result = quantize_absmax({.x = x,
                                       .columns = columns,
                                       .padded_columns = call.weights.padded_columns(),
                                       .epsilon = call.activation_epsilon,
                                       .codes = to.codes});
  *to.scale = result.scale;
  *to.sum = result.sum;
  return result.is_finite;
}

}  // namespace

Result<BitLinearWorkspace> BitLinearWorkspace::create(size_t tokens, size_t columns) {
  if (columns > quant::kMaxTernaryColumns || tokens > SIZE_MAX / sizeof(float) / (columns + 84)) {
    return fail(fmt::format("a BitLinear of {} tokens x {} columns is too large", tokens, columns));
  }
  BitLinearWorkspace workspace;
  workspace.tokens_ = tokens;
  workspace.columns_ = columns;
  const auto allocate = [](AlignedBuffer& to, size_t bytes) -> Result<void> {
    auto buffer = AlignedBuffer::allocate(bytes);
    if (!buffer) return fail_from(buffer);
    to = *std::move(buffer);
    return {};
  };
  if (auto r = allocate(workspace.codes_, tokens * code_stride(columns)); !r) return fail_from(r);
  if (auto r = allocate(workspace.scales_, tokens * sizeof(float)); !r) return fail_from(r);
  if (auto r = allocate(workspace.sums_, tokens * sizeof(int32_t)); !r) return fail_from(r);
  if (auto r = allocate(workspace.normed_, tokens * columns * sizeof(float)); !r) {
    return fail_from(r);
  }
  return workspace;
}

Result<void> bitlinear(const BitLinearCall& call, ThreadPool& pool, BitLinearWorkspace& workspace) {
  const size_t columns = call.weights.columns();
  if (call.tokens > workspace.tokens_ || columns > workspace.columns_) {
    return fail(fmt::format("a workspace for {} tokens x {} columns is too small for {} x {}",
                            workspace.tokens_, workspace.columns_, call.tokens, columns));
  }
  const size_t stride = code_stride(columns);
  int8_t* codes = workspace.codes_.as<int8_t>().data();
  float* scales = workspace.scales_.as<float>().data();
  int32_t* sums = workspace.sums_.as<int32_t>().data();
  float* normed = workspace.normed_.as<float>().data();

  std::atomic<bool> is_finite{true};
  // Sixteen tokens at a time: their scales and sums fill a cache line.
  pool.for_range(call.tokens, 16, [&](size_t first, size_t last) {
    for (size_t t = first; t < last; ++t) {
      const TokenCodes to{codes + t * stride, scales + t, sums + t, normed + t * columns};
      if (!quantize_token(call, t, to)) is_finite = false;
    }
  });
  if (!is_finite) return fail("an activation is NaN or infinite");

  const TernaryCall product{.weights = call.weights,
                            .x = {codes, stride, call.tokens, scales, sums},
                            .row_scales = call.row_scales,
                            .scale = call.scale,
                            .bias = call.bias,
                            .out = call.out,
                            .out_stride = call.weights.rows()};
  pool.for_range(call.weights.panels(), 1,
                 [&](size_t first, size_t last) { ternary_product(product, first, last); });
  return {};
}

}  // namespace trilobite::kernels
