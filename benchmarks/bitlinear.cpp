// Suite bitlinear: the whole layer (sub-norm, int8 activations, ternary product, scale) at the
// sizes of small models and of the 2B model, checked against f64.

#include "kernels/bitlinear.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/absmean.hpp"
#include "lowbit_inputs.hpp"

namespace trilobite::benchmarks {
namespace {

/// Against f64 with the same ternary weights and activations that are not rounded: the error is
/// that of int8 activations.
Verification check(const kernels::BitLinearCall& call) {
  const size_t rows = call.weights.rows();
  const size_t columns = call.weights.columns();
  const float* x = call.x + (call.tokens - 1) * columns;
  double squares = 0;
  for (size_t c = 0; c < columns; ++c) squares += static_cast<double>(x[c]) * x[c];
  const double factor = 1 / std::sqrt(squares / static_cast<double>(columns) + 1e-5);
  Verification result(true);
  result.reference = "f64 with exact activations";
  double dot = 0, length = 0, expected_length = 0, largest = 0;
  for (size_t row = 0; row < rows; row += std::max<size_t>(1, rows / 64)) {
    double sum = 0;
    for (size_t c = 0; c < columns; ++c) {
      sum += call.weights.weight_at(row, c) * factor * x[c] * call.norm_gain[c];
    }
    const double expected = sum * call.scale;
    const double got = call.out[(call.tokens - 1) * rows + row];
    result.max_error = std::max(result.max_error, std::abs(got - expected));
    largest = std::max(largest, std::abs(expected));
    dot += got * expected;
    length += got * got;
    expected_length += expected * expected;
  }
  result.cosine = dot / std::sqrt(length * expected_length);
  result.tolerance = 0.05 * largest;
  result.passed = result.max_error <= result.tolerance && result.cosine > 0.999;
  return result;
}

void run(Bench& p) {
  const auto shape = matrix_shape(p.shape());
  if (!shape) return p.fail(shape.error().message());
  if (!use_isa_of(p)) return;
  const auto tokens = static_cast<size_t>(p.number("batch"));
  ThreadPool& pool = shared_pool(p.threads());
  const auto dense = uniform_values(shape->rows * shape->columns, {p.seed(), 0});
  const auto view = quant::MatrixView::from(dense, shape->rows, shape->columns).value();
  const auto weights = kernels::quantize_absmean_tiles(view, {.form = form_of(p.dtype())}, pool);
  auto workspace = kernels::BitLinearWorkspace::create(tokens, shape->columns);
  if (!weights) return p.fail(weights.error().message());
  if (!workspace) return p.fail(workspace.error().message());
  const auto x = uniform_values(tokens * shape->columns, {p.seed(), 1});
  const auto gain = uniform_values(shape->columns, {p.seed(), 2});
  std::vector<float> out(tokens * shape->rows);
  const kernels::BitLinearCall call{.weights = weights->tiles,
                                    .scale = weights->scales[0],
                                    .norm_gain = gain.data(),
                                    .x = x.data(),
                                    .tokens = tokens,
                                    .out = out.data()};
  const auto forward = [&] { return kernels::bitlinear(call, pool, *workspace).has_value(); };
  const double elements = static_cast<double>(dense.size());
  p.work({.elements = static_cast<double>(out.size()),
          .bytes_read = static_cast<double>(weights->tiles.bytes() + 4 * x.size()),
          .bytes_written = 4 * static_cast<double>(out.size()),
          .tokens = static_cast<double>(tokens),
          .flops = 2 * elements * static_cast<double>(tokens),
          .compute = "ternary"});
  if (!forward()) return p.fail("the layer refuses its input");
  p.verify([&] { return check(call); });
  p.measure(forward);
}

bool register_suite() {
  register_benchmark(
      {.suite = "bitlinear",
       .operation = "forward",
       .cases =
           [] {
             const std::vector<std::string> shapes{"768x768",   "3072x768", "4096x1024",
                                                   "2560x2560", "640x2560", "6912x2560",
                                                   "2560x6912"};
             return over(axis("dtype", std::vector<std::string>{"ternary-2.0", "ternary-1.6"}),
                         axis("shape", shapes),
                         axis("batch", std::vector<int64_t>{1, 8, 32, 128, 512}),
                         axis("device", std::vector<std::string>{"cpu"}));
           },
       .body = run});
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
