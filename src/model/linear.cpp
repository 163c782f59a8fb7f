#include "model/linear.hpp"

#include <utility>

#include "kernels/block_product.hpp"
#include "kernels/dense_product.hpp"

namespace trilobite::model {
namespace {

// Up to so many tokens dense weights are read where they lie; beyond, packing them pays.
constexpr size_t kMaxDenseTokens = 16;

// Rows that a thread takes at least: about two microseconds of reading.
constexpr size_t kLeastBytes = size_t{1} << 15;

template <typename Tiles>
size_t panel_grain(const Tiles& tiles, size_t tokens) {
  return 1 + kLeastBytes / (tiles.bytes() / tiles.panels() * tokens);
}

size_t row_grain(size_t bytes_per_row) { return (1 + kLeastBytes / (bytes_per_row + 1)) * 2; }

}  // namespace

Linear::Linear(Weights weights, float scale, std::vector<float> bias)
    : weights_(std::move(weights)), scale_(scale), bias_(std::move(bias)) {
  TRILOBITE_CHECK(bias_.empty() || bias_.size() == rows());
}

std::string_view Linear::kernel() const {
  if (const auto* dense = std::get_if<DenseWeights>(&weights_)) {
    return dense->dtype == DType::f32   ? "dense f32"
           : dense->dtype == DType::f16 ? "dense f16"
                                        : "dense bf16";
  }
  if (const auto* stored = std::get_if<StoredWeights>(&weights_)) {
    switch (stored->format()) {
      case kernels::StoredFormat::tq2_0: return "tq2_0 in place";
      case kernels::StoredFormat::i2s_block128: return "i2_s in place";
      case kernels::StoredFormat::q4_0: return "q4_0 in place";
      case kernels::StoredFormat::q8_0: return "q8_0 in place";
      case kernels::StoredFormat::q6_k: return "q6_k in place";
    }
  }
  if (const auto* ternary = std::get_if<kernels::TernaryWeights>(&weights_)) {
    return ternary->tiles.form() == quant::TernaryForm::two_bit ? "ternary 2.0 bits"
                                                                : "ternary 1.6 bits";
  }
  if (const auto* blocks = std::get_if<quant::BlockTiles>(&weights_)) {
    switch (blocks->format()) {
      case quant::TiledBlocks::q4_1: return "blocks q4_1";
      case quant::TiledBlocks::q4_k: return "blocks q4_k";
      case quant::TiledBlocks::q6_k: return "blocks q6_k";
    }
  }
  switch (std::get<quant::GroupTiles>(weights_).bits()) {
    case quant::GroupBits::four: return "groups of 4 bits";
    case quant::GroupBits::six: return "groups of 6 bits";
    case quant::GroupBits::eight: break;
  }
  return "groups of 8 bits";
}

Result<void> Linear::multiply(ProjectionInput& input, Compute compute, float* out) const {
  TRILOBITE_CHECK(input.columns() == columns());
  auto done = std::visit(
      [&](const auto& weights) { return multiply_by(weights, input, compute, out); }, weights_);
  if (!done) return done;
  scale_and_shift(input.tokens(), compute, out);
  return {};
}

Result<void> Linear::multiply_by(const DenseWeights& dense, ProjectionInput& input, Compute compute,
                                 float* out) const {
  if (input.tokens() > kMaxDenseTokens) {
    const auto columns = static_cast<ptrdiff_t>(dense.column_count);
    return compute.gemm.run({.a_dtype = DType::f32,
                             .b_dtype = dense.dtype,
                             .out_dtype = DType::f32,
                             .m = input.tokens(),
                             .n = dense.row_count,
                             .k = dense.column_count,
                             .a = {input.values(), columns, 1},
                             .b = {dense.data, 1, columns},
                             .out = out});
  }
  const kernels::DenseCall call{.dtype = dense.dtype,
                                .weights = dense.data,
                                .rows = dense.row_count,
                                .columns = dense.column_count,
                                .x = input.values(),
                                .tokens = input.tokens(),
                                .out = out,
                                .out_stride = dense.row_count};
  compute.pool.for_range(
      dense.row_count, row_grain(dense.column_count * size_of(dense.dtype)),
      [&](size_t first, size_t last) { kernels::dense_product(call, first, last); });
  return {};
}

Result<void> Linear::multiply_by(const StoredWeights& stored, ProjectionInput& input,
                                 Compute compute, float* out) const {
  return stored.multiply(input, compute.pool, out);
}

Result<void> Linear::multiply_by(const kernels::TernaryWeights& ternary, ProjectionInput& input,
                                 Compute compute, float* out) const {
  const auto x = input.rows(compute.pool);
  if (!x) return fail_from(x);
  kernels::run_ternary_product(
      {.weights = ternary.tiles,
       .x = *x,
       .row_scales = ternary.scales.size() == 1 ? nullptr : ternary.scales.data(),
       .scale = ternary.scales[0],
       .out = out,
       .out_stride = ternary.tiles.rows()},
      compute.pool);
  return {};
}

Result<void> Linear::multiply_by(const quant::GroupTiles& tiles, ProjectionInput& input,
                                 Compute compute, float* out) const {
  const auto x = input.groups(compute.pool);
  if (!x) return fail_from(x);
  const kernels::GroupCall call{.weights = tiles, .x = *x, .out = out, .out_stride = tiles.rows()};
  compute.pool.for_range(
      tiles.panels(), panel_grain(tiles, input.tokens()),
      [&](size_t first, size_t last) { kernels::group_product(call, first, last); });
  return {};
}

Result<void> Linear::multiply_by(const quant::BlockTiles& tiles, ProjectionInput& input,
                                 Compute compute, float* out) const {
  const auto x = input.groups(compute.pool);
  if (!x) return fail_from(x);
  const kernels::BlockCall call{.weights = tiles, .x = *x, .out = out, .out_stride = tiles.rows()};
  compute.pool.for_range(
      tiles.panels(), panel_grain(tiles, input.tokens()),
      [&](size_t first, size_t last) { kernels::block_product(call, first, last); });
  return {};
}

void Linear::scale_and_shift(size_t tokens, Compute compute, float* out) const {
  if (scale_ == 1.0f && bias_.empty()) return;
  const size_t width = rows();
  compute.pool.for_range(tokens, 8, [&](size_t first, size_t last) {
    for (size_t t = first; t < last; ++t) {
      float* to = out + t * width;
      for (size_t i = 0; i < width; ++i) to[i] = to[i] * scale_ + (bias_.empty() ? 0 : bias_[i]);
    }
  });
}

}  // namespace trilobite::model
