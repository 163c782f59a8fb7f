#include "model/linear.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "kernels/block_product.hpp"
#include "kernels/dense_product.hpp"

namespace trilobite::model {
namespace {

// Up to so many tokens dense weights are read where they lie; beyond, packing them pays.
constexpr size_t kMaxDenseTokens = 16;

// What a thread takes at least: some microseconds of reading. Beginning to read elsewhere costs
// time: 640x2560 ternary weights take 8.0 us in pieces of 105 KB, 10.0 in pieces of 37 KB (2
// threads, Zen 5).
constexpr size_t kLeastBytes = 96 * 1024;

size_t grain_of(size_t unit_bytes, size_t tokens) {
  return (kLeastBytes + unit_bytes * tokens - 1) / (unit_bytes * tokens);
}

Result<void> make_input_for(const DenseWeights&, ProjectionInput&, ThreadPool&) { return {}; }
Result<void> make_input_for(const StoredWeights& stored, ProjectionInput& input, ThreadPool& pool) {
  return stored.make_input(input, pool);
}
Result<void> make_input_for(const kernels::TernaryWeights&, ProjectionInput& input,
                            ThreadPool& pool) {
  return input.make_rows(pool);
}
template <typename Tiles>
Result<void> make_input_for(const Tiles&, ProjectionInput& input, ThreadPool& pool) {
  return input.make_groups(pool);
}

size_t unit_rows_of(const DenseWeights&, size_t) { return 1; }
size_t unit_rows_of(const StoredWeights& stored, size_t tokens) { return stored.unit_rows(tokens); }
template <typename Tiles>
size_t unit_rows_of(const Tiles&, size_t) {
  return quant::kPanelRows;
}

/// Units of several rows are long enough to begin anywhere; single rows are taken as many at a time
/// as kernels read together.
size_t aligned_grain(size_t grain, size_t unit_rows) {
  constexpr size_t kRowsReadTogether = 8;
  if (unit_rows > 1) return grain;
  return (grain + kRowsReadTogether - 1) / kRowsReadTogether * kRowsReadTogether;
}

struct Units {
  size_t first, last;
};

Result<void> multiply_units_of(const DenseWeights& dense, const ProjectionInput& input, Units units,
                               float* out) {
  kernels::dense_product({.dtype = dense.dtype,
                          .weights = dense.data,
                          .rows = dense.row_count,
                          .columns = dense.column_count,
                          .x = input.values(),
                          .tokens = input.tokens(),
                          .out = out,
                          .out_stride = dense.row_count},
                         units.first, units.last);
  return {};
}
Result<void> multiply_units_of(const StoredWeights& stored, const ProjectionInput& input,
                               Units units, float* out) {
  return stored.multiply(input, units.first, units.last, out);
}
Result<void> multiply_units_of(const kernels::TernaryWeights& ternary, const ProjectionInput& input,
                               Units units, float* out) {
  kernels::ternary_product(
      {.weights = ternary.tiles,
       .x = input.rows(),
       .row_scales = ternary.scales.size() == 1 ? nullptr : ternary.scales.data(),
       .scale = ternary.scales[0],
       .out = out,
       .out_stride = ternary.tiles.rows()},
      units.first, units.last);
  return {};
}
Result<void> multiply_units_of(const quant::GroupTiles& tiles, const ProjectionInput& input,
                               Units units, float* out) {
  kernels::group_product(
      {.weights = tiles, .x = input.groups(), .out = out, .out_stride = tiles.rows()}, units.first,
      units.last);
  return {};
}
Result<void> multiply_units_of(const quant::BlockTiles& tiles, const ProjectionInput& input,
                               Units units, float* out) {
  kernels::block_product(
      {.weights = tiles, .x = input.groups(), .out = out, .out_stride = tiles.rows()}, units.first,
      units.last);
  return {};
}

size_t divide_up(size_t count, size_t by) { return (count + by - 1) / by; }

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

std::optional<Linear::Cut> Linear::cut(size_t tokens) const {
  if (std::holds_alternative<DenseWeights>(weights_) && tokens > kMaxDenseTokens) {
    return std::nullopt;
  }
  const size_t unit_rows =
      std::visit([&](const auto& weights) { return unit_rows_of(weights, tokens); }, weights_);
  const size_t units = divide_up(rows(), unit_rows);
  return Cut{unit_rows, aligned_grain(grain_of(divide_up(bytes(), units), tokens), unit_rows)};
}

Result<void> Linear::make_input(ProjectionInput& input, ThreadPool& pool) const {
  TRILOBITE_CHECK(input.columns() == columns());
  return std::visit([&](const auto& weights) { return make_input_for(weights, input, pool); },
                    weights_);
}

Result<void> Linear::multiply_units(const ProjectionInput& input, size_t first, size_t last,
                                    float* out) const {
  auto done = std::visit(
      [&](const auto& weights) { return multiply_units_of(weights, input, {first, last}, out); },
      weights_);
  if (!done) return done;
  const size_t unit_rows = cut(input.tokens())->rows;
  scale_and_shift(input.tokens(), first * unit_rows, std::min(rows(), last * unit_rows), out);
  return {};
}

Result<void> Linear::multiply_by_gemm(const ProjectionInput& input, Compute compute,
                                      float* out) const {
  const auto& dense = std::get<DenseWeights>(weights_);
  const auto columns = static_cast<ptrdiff_t>(dense.column_count);
  auto done = compute.gemm.run({.a_dtype = DType::f32,
                                .b_dtype = dense.dtype,
                                .out_dtype = DType::f32,
                                .m = input.tokens(),
                                .n = dense.row_count,
                                .k = dense.column_count,
                                .a = {input.values(), columns, 1},
                                .b = {dense.data, 1, columns},
                                .out = out});
  if (!done) return done;
  compute.pool.for_range(input.tokens(), 8, [&](size_t first, size_t last) {
    scale_and_shift(last - first, 0, rows(), out + first * rows());
  });
  return {};
}

void Linear::scale_and_shift(size_t tokens, size_t first_row, size_t last_row, float* out) const {
  if (scale_ == 1.0f && bias_.empty()) return;
  for (size_t t = 0; t < tokens; ++t) {
    float* to = out + t * rows();
    for (size_t i = first_row; i < last_row; ++i) {
      to[i] = to[i] * scale_ + (bias_.empty() ? 0 : bias_[i]);
    }
  }
}

Result<void> Linear::multiply(ProjectionInput& input, Compute compute, float* out) const {
  return multiply_all({{*this, out}}, input, compute);
}

Result<void> multiply_all(std::initializer_list<Projection> projections, ProjectionInput& input,
                          Compute compute) {
  // Counted in grains, which make pieces of about the same length of every matrix.
  size_t grains = 0;
  const auto cut_of = [&](const Projection& p) { return p.linear.cut(input.tokens()); };
  const auto grains_of = [](const Projection& p, const Linear::Cut& cut) {
    return divide_up(p.linear.rows(), cut.rows * cut.grain);
  };
  for (const auto& p : projections) {
    const auto cut = cut_of(p);
    auto done = cut ? p.linear.make_input(input, compute.pool)
                    : p.linear.multiply_by_gemm(input, compute, p.out);
    if (!done) return done;
    if (cut) grains += grains_of(p, *cut);
  }
  std::mutex mutex;
  Result<void> all;
  compute.pool.for_range(grains, 1, [&](size_t first, size_t last) {
    size_t begin = 0;
    for (const auto& p : projections) {
      const auto cut = cut_of(p);
      if (!cut) continue;
      const size_t end = begin + grains_of(p, *cut);
      const size_t from = std::max(first, begin), to = std::min(last, end);
      if (from < to) {
        const size_t units = divide_up(p.linear.rows(), cut->rows);
        const auto done = p.linear.multiply_units(
            input, (from - begin) * cut->grain, std::min(units, (to - begin) * cut->grain), p.out);
        if (!done) {
          const std::lock_guard lock(mutex);
          all = done;
        }
      }
      begin = end;
    }
  });
  return all;
}

}  // namespace trilobite::model
