// Suite quantization: every scheme of the table, there and back, from matrices that stay in L2 to
// ones that leave it. The dtype of an id is the scheme. What is timed is the portable reference
// with all its checks, one thread; the figures say what a scheme saves and what it costs in
// accuracy.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "quant/error_measures.hpp"
#include "quant/scheme.hpp"
#include "tensor/shape.hpp"
#include "trilobite/bench.hpp"

namespace trilobite::benchmarks {
namespace {

using quant::QuantizedMatrix;
using quant::Scheme;

/// These keep signs and one magnitude, so they get weights that are ternary already.
bool is_for_ternary_weights(const Scheme& scheme) {
  return scheme.name.starts_with("i2_s") || scheme.name.starts_with("tq");
}

/// Gaussian with the spread of trained layers, or -0.02, 0 and 0.02.
std::vector<float> make_weights(const Scheme& scheme, size_t count, uint64_t seed) {
  constexpr float kSpread = 0.02f;
  Rng rng(seed);
  std::vector<float> weights(count);
  for (float& weight : weights) {
    weight = kSpread * (is_for_ternary_weights(scheme) ? static_cast<float>(rng.below(3)) - 1.0f
                                                       : rng.normal());
  }
  return weights;
}

/// The largest error that the scheme may make when one scale covers all weights up to `largest`.
double tolerance_of(const Scheme& scheme, double largest) {
  if (scheme.name == "fp32") return 0;
  if (scheme.code_bits == 0) return largest * 0x1p-8;  // half an ulp of bf16, the coarser
  // Codes reach to +-levels: half a step of error, but a whole one where q4_0 clips its end; 5 %
  // for scales in f16.
  const unsigned levels = (1u << (scheme.code_bits - 1)) - 1;
  return 1.05 * largest / levels;
}

/// A largest error cannot tell wrong codes of small weights, the angle between the matrices can.
/// Each is somewhat below what the worst scheme of its kind reaches on the largest matrix.
double least_cosine(const Scheme& scheme) {
  if (scheme.code_bits == 2) return 0.88;
  if (scheme.code_bits == 4) return 0.975;
  return 0.9998;
}

struct Matrix {
  Scheme scheme;
  std::vector<float> weights;
  QuantizedMatrix packed;

  quant::MatrixView view() const {
    return quant::MatrixView::from(weights, packed.rows, packed.cols).value();
  }
};

Result<Matrix> make_matrix(const Bench& p) {
  auto scheme = quant::find_scheme(p.dtype());
  if (!scheme) return fail_from(scheme);
  const auto shape = Shape::parse(p.shape());
  if (!shape) return fail_from(shape);
  if (shape->rank() != 2) return fail(fmt::format("{} is no matrix", p.shape()));
  const auto rows = static_cast<size_t>((*shape)[0]);
  const auto cols = static_cast<size_t>((*shape)[1]);
  auto weights = make_weights(*scheme, rows * cols, p.seed());
  const auto view = quant::MatrixView::from(weights, rows, cols);
  if (!view) return fail_from(view);
  auto packed = quant::quantize(*scheme, *view);
  if (!packed) return fail_from(packed);
  return Matrix{*std::move(scheme), std::move(weights), *std::move(packed)};
}

/// Compares with the weights before anything was packed, and keeps what that says about the scheme.
Verification judge(Bench& p, const Matrix& matrix, const std::vector<float>& restored) {
  const auto measures = quant::measure_error(matrix.weights, restored);
  const auto bytes = static_cast<double>(matrix.packed.view().size().total_bytes());
  p.figure("memory_reduction", quant::memory_reduction(matrix.packed));
  p.figure("bits_per_weight", 8 * bytes / static_cast<double>(matrix.weights.size()));
  p.figure("snr_db", measures.snr_db);
  p.figure("rmse", measures.rmse);
  float largest = 0;
  for (const float weight : matrix.weights) largest = std::max(largest, std::abs(weight));
  Verification verification;
  verification.reference = "the weights before quantization";
  verification.max_error = measures.max_abs_error;
  verification.tolerance = tolerance_of(matrix.scheme, largest);
  verification.cosine = measures.cosine;
  verification.passed = measures.max_abs_error <= verification.tolerance &&
                        measures.cosine >= least_cosine(matrix.scheme);
  return verification;
}

void run_quantize(Bench& p) {
  const auto matrix = make_matrix(p);
  if (!matrix) return p.fail(matrix.error().message());
  const auto elements = static_cast<double>(matrix->weights.size());
  p.work({.elements = elements,
          .bytes_read = 4 * elements,
          .bytes_written = static_cast<double>(matrix->packed.view().size().total_bytes())});
  const auto pack = [&] { return quant::quantize(matrix->scheme, matrix->view()); };
  p.verify([&] { return judge(p, *matrix, quant::dequantize(pack().value()).value()); });
  p.measure([&] { return pack().has_value(); });
}

void run_dequantize(Bench& p) {
  const auto matrix = make_matrix(p);
  if (!matrix) return p.fail(matrix.error().message());
  const auto elements = static_cast<double>(matrix->weights.size());
  p.work({.elements = elements,
          .bytes_read = static_cast<double>(matrix->packed.view().size().total_bytes()),
          .bytes_written = 4 * elements});
  const auto unpack = [&] { return quant::dequantize(matrix->scheme, matrix->packed.view()); };
  p.verify([&] { return judge(p, *matrix, unpack().value()); });
  p.measure([&] { return unpack().has_value(); });
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& scheme : quant::all_schemes()) {
    for (const int size : {256, 512, 1024, 2048}) {
      cases.push_back(
          {.dtype = scheme.name, .device = "reference", .shape = fmt::format("{}x{}", size, size)});
    }
  }
  return cases;
}

bool register_suite() {
  register_benchmark(
      {.suite = "quantization", .operation = "quantize", .cases = all_cases, .body = run_quantize});
  register_benchmark({.suite = "quantization",
                      .operation = "dequantize",
                      .cases = all_cases,
                      .body = run_dequantize});
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
