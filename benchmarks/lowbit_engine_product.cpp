#include "lowbit_engine_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/cpu_info.hpp"
#include "base/rng.hpp"
#include "kernels/block_repack.hpp"
#include "kernels/ternary_repack.hpp"
#include "quant/scheme.hpp"
#include "quant/ternary_packing.hpp"

namespace trilobite::benchmarks {
namespace {

using kernels::StoredFormat;
using quant::QuantizedView;

const CpuInfo& cpu_info() {
  static const CpuInfo info = read_cpu_info();
  return info;
}

template <class Tiles>
Result<model::Weights> as_weights(Result<Tiles> tiles) {
  if (!tiles) return fail_from(tiles);
  return model::Weights(*std::move(tiles));
}
template <class Tiles>
Result<model::Weights> as_weights(Result<std::optional<Tiles>> tiles) {
  if (!tiles) return fail_from(tiles);
  if (!*tiles) return fail("the scales of a row differ");
  return model::Weights(**std::move(tiles));
}

/// Our own ternary packings, with the scales of a strip for all rows.
Result<kernels::TernaryWeights> from_ternary(const quant::Scheme& scheme,
                                             const QuantizedView& packed) {
  const auto form = scheme.bits_per_weight < 2 ? quant::TernaryForm::five_trits_a_byte
                                               : quant::TernaryForm::two_bit;
  const auto codes = quant::unpack_ternary(form, packed);
  if (!codes) return fail_from(codes);
  auto tiles = quant::TernaryTiles::pack(*codes, packed.rows, packed.cols, form);
  if (!tiles) return fail_from(tiles);
  kernels::TernaryWeights weights{*std::move(tiles), {packed.scales[0]}};
  if (scheme.granularity == quant::Granularity::channel) {
    weights.scales.resize(packed.rows);
    for (size_t row = 0; row < packed.rows; ++row)
      weights.scales[row] = packed.scales[row % packed.scales.size()];
  }
  return weights;
}

/// Packing codes takes much longer than copying tiles.
Result<model::Weights> copy_of(const kernels::TernaryWeights& weights) {
  const auto& tiles = weights.tiles;
  auto copy = quant::TernaryTiles::create_unfilled(tiles.rows(), tiles.columns(), tiles.form());
  if (!copy) return fail_from(copy);
  std::copy_n(tiles.panel(0), tiles.bytes(), copy->panel(0));
  return model::Weights(kernels::TernaryWeights{*std::move(copy), weights.scales});
}

/// The form that loading a model gives to weights of `scheme`.
Result<model::Weights> loaded(const std::string& scheme, const QuantizedView& packed,
                              ThreadPool& pool) {
  constexpr std::array kDense{std::pair("fp32", DType::f32), std::pair("fp16", DType::f16),
                              std::pair("bf16", DType::bf16)};
  constexpr std::array kStored{
      std::pair("tq2_0", StoredFormat::tq2_0), std::pair("i2_s", StoredFormat::i2s_block128),
      std::pair("q4_0", StoredFormat::q4_0), std::pair("q8_0", StoredFormat::q8_0),
      std::pair("q6_k", StoredFormat::q6_k)};
  for (const auto& [name, dtype] : kDense) {
    if (scheme == name)
      return model::Weights(
          model::DenseWeights{dtype, packed.bytes.data(), packed.rows, packed.cols});
  }
  for (const auto& [name, format] : kStored) {
    if (scheme == name) return as_weights(model::StoredWeights::look_at(format, packed, pool));
  }
  for (const auto format : {quant::TiledBlocks::q4_1, quant::TiledBlocks::q4_k}) {
    if (scheme == name_of(format)) return as_weights(kernels::repack_blocks(format, packed, pool));
  }
  constexpr auto kForm = quant::TernaryForm::two_bit;
  if (scheme == "tq1_0")
    return as_weights(
        kernels::repack_ternary_blocks(kernels::TernaryBlocks::tq1_0, packed, kForm, pool));
  for (const auto& [name, layout] : {std::pair("i2_s-four-rows", quant::I2sLayout::x86_four_rows),
                                     std::pair("i2_s-arm", quant::I2sLayout::arm_block64)}) {
    if (scheme == name) return as_weights(kernels::repack_i2s(layout, packed, kForm, pool));
  }
  return fail(fmt::format("no kernel multiplies weights of {}", scheme), ErrorKind::environment);
}

/// What shares a scale with its activation: all weights of a row, or groups of 32.
bool is_ternary(std::string_view kernel) {
  return kernel.starts_with("ternary") || kernel.starts_with("tq2_0") || kernel.starts_with("i2_s");
}

}  // namespace

EngineProduct::EngineProduct(const ProductRequest& request, PackedTensor tensor, ThreadPool& pool)
    : request_(request),
      tensor_(std::make_unique<PackedTensor>(std::move(tensor))),
      pool_(&pool),
      gemm_(std::make_unique<kernels::Gemm>(pool, cpu_info())),
      x_(request.tokens * request.shape.columns),
      out_(request.tokens * request.shape.rows) {
  for (size_t i = 0; i < x_.size(); ++i) x_[i] = normal_at(request.seed, 1, i);
}

Result<EngineProduct> EngineProduct::create(const ProductRequest& request, ThreadPool& pool) {
  auto tensor = PackedTensor::create(request.scheme, request.shape, request.seed);
  if (!tensor) return fail_from(tensor);
  EngineProduct product(request, *std::move(tensor), pool);
  auto input = model::ProjectionInput::create(request.tokens, request.shape.columns);
  if (!input) return fail_from(input);
  product.input_ = std::make_unique<model::ProjectionInput>(*std::move(input));
  if (auto done = product.add_copies(); !done) return fail_from(done);
  return product;
}

Result<model::Weights> EngineProduct::load_copy() {
  copies_.push_back(tensor_->bytes);
  auto view = tensor_->view;
  view.bytes = copies_.back();
  return loaded(request_.scheme, view, *pool_);
}

Result<void> EngineProduct::add_copies() {
  const auto scheme = quant::find_scheme(request_.scheme).value();
  auto whole = tensor_->view;
  whole.scales = tensor_->one.scales;
  std::optional<kernels::TernaryWeights> own;
  if (scheme.name.starts_with("bitnet")) {
    auto made = from_ternary(scheme, whole);
    if (!made) return fail_from(made);
    own = *std::move(made);
  }
  const size_t wanted = request_.from_memory ? 4 * cpu_info().last_level_cache_bytes() : 1;
  for (size_t bytes = 0; bytes < wanted; bytes += linears_.back().bytes()) {
    auto weights = own ? copy_of(*own) : load_copy();
    if (!weights) return fail_from(weights);
    linears_.emplace_back(*std::move(weights));
  }
  return {};
}

void EngineProduct::run() {
  input_->set(x_.data(), request_.tokens, request_.shape.columns);
  const auto& linear = linears_[turn_++ % linears_.size()];
  TRILOBITE_CHECK(linear.multiply(*input_, {*pool_, *gemm_}, out_.data()).has_value());
}

std::vector<float> EngineProduct::activations_seen() {
  auto seen = x_;
  if (kernel().starts_with("dense")) return seen;
  const size_t columns = request_.shape.columns;
  const size_t group_count = (columns + 31) / 32;
  TRILOBITE_CHECK(input_->make_rows(*pool_) && input_->make_groups(*pool_));
  const auto rows = input_->rows();
  const auto groups = input_->groups();
  for (size_t i = 0; i < seen.size(); ++i) {
    const auto [token, column] = std::pair(i / columns, i % columns);
    seen[i] =
        is_ternary(kernel())
            ? static_cast<float>(rows.codes[token * rows.stride + column]) * rows.scales[token]
            : static_cast<float>(groups.codes[token * groups.stride + column]) *
                  groups.scales[token * group_count + column / 32];
  }
  return seen;
}

Verification EngineProduct::verify() {
  run();
  Verification verification(true);
  verification.reference = "plain loops";
  verification.cosine = std::numeric_limits<double>::quiet_NaN();
  const auto weights = quant::dequantize(tensor_->one);
  if (!weights) return false;
  const auto x = activations_seen();
  const auto [rows, columns] = request_.shape;
  for (size_t i = 0; i < 16; ++i) {
    const size_t row = i * (rows - 1) / 15;
    const float* w = weights->data() + row % tensor_->one.rows * columns;
    for (const size_t token : {size_t{0}, request_.tokens - 1}) {
      double expected = 0;
      double magnitude = 0;
      double largest = 0;
      for (size_t c = 0; c < columns; ++c) {
        const double weight = static_cast<double>(w[c]);
        const double activation = static_cast<double>(x[token * columns + c]);
        expected += weight * activation;
        magnitude += std::abs(activation);
        largest = std::max(largest, std::abs(weight));
      }
      // f32 sums of a quarter of the columns at most; codes and their offsets (q4_1, q4_k) are
      // within four times the largest weight.
      const double tolerance =
          static_cast<double>(columns / 8 + 8) * 0x1p-24 * 4 * largest * magnitude;
      const double error = std::abs(static_cast<double>(out_[token * rows + row]) - expected);
      verification.max_error = std::max(verification.max_error, error);
      verification.tolerance = std::max(verification.tolerance, tolerance);
      verification.passed = verification.passed && error <= tolerance;
    }
  }
  return verification;
}

Work EngineProduct::work() const {
  const auto elements = static_cast<double>(request_.shape.rows * request_.shape.columns);
  const bool is_dense = kernel().starts_with("dense");
  return {.elements = elements,
          .bytes_read = static_cast<double>(weight_bytes() + sizeof(float) * x_.size()),
          .bytes_written = static_cast<double>(sizeof(float) * out_.size()),
          .tokens = static_cast<double>(request_.tokens),
          .flops = 2 * elements * static_cast<double>(request_.tokens),
          .compute = is_dense               ? "f32"
                     : is_ternary(kernel()) ? "ternary"
                                            : "i8",
          .working_set_bytes = static_cast<double>(weight_bytes() * linears_.size())};
}

}  // namespace trilobite::benchmarks
