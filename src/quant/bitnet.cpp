#include "quant/bitnet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "quant/rounding.hpp"

namespace trilobite::quant {
namespace {

float divisor_of(float gamma, const AbsmeanOptions& options) {
  return options.rule == EpsilonRule::added ? gamma + options.epsilon
                                            : std::max(gamma, options.epsilon);
}

/// Rounding to even and clipping to [-1, 1] in one: only a ratio beyond one half leaves 0.
void ternary_codes(std::span<const float> weights, float divisor, std::span<int8_t> codes) {
  for (size_t i = 0; i < weights.size(); ++i) {
    const float ratio = weights[i] / divisor;
    codes[i] = static_cast<int8_t>((ratio > 0.5f) - (ratio < -0.5f));
  }
}

float largest_magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// A sum of that many codes of at most 127 stays within int32_t.
constexpr size_t kMostActivationColumns = size_t{1} << 24;

}  // namespace

float mean_magnitude(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += std::abs(static_cast<double>(value));
  return static_cast<float>(sum / static_cast<double>(values.size()));
}

TernaryMatrix quantize_absmean(MatrixView weights, const AbsmeanOptions& options) {
  TernaryMatrix result{.rows = weights.rows(), .cols = weights.cols()};
  result.codes.resize(weights.values().size());
  const std::span<int8_t> codes = result.codes;
  if (!options.per_channel) {
    result.scales = {mean_magnitude(weights.values())};
    ternary_codes(weights.values(), divisor_of(result.scales[0], options), codes);
    return result;
  }
  for (size_t r = 0; r < weights.rows(); ++r) {
    const float gamma = mean_magnitude(weights.row(r));
    result.scales.push_back(gamma);
    ternary_codes(weights.row(r), divisor_of(gamma, options),
                  codes.subspan(r * weights.cols(), weights.cols()));
  }
  return result;
}

void dequantize_ternary(const TernaryMatrix& ternary, std::span<float> values) {
  for (size_t r = 0; r < ternary.rows; ++r) {
    const float scale = ternary.scale_of(r);
    for (size_t i = r * ternary.cols; i < (r + 1) * ternary.cols; ++i) {
      values[i] = static_cast<float>(ternary.codes[i]) * scale;
    }
  }
}

std::vector<float> dequantize_ternary(const TernaryMatrix& ternary) {
  std::vector<float> values(ternary.codes.size());
  dequantize_ternary(ternary, values);
  return values;
}

Result<Int8Activations> quantize_absmax(MatrixView tokens, float epsilon) {
  if (tokens.cols() > kMostActivationColumns) {
    return fail(
        fmt::format("a token of {} values; the sum of its codes is kept in 32 bits, which "
                    "is enough for {}",
                    tokens.cols(), kMostActivationColumns));
  }
  Int8Activations result{.tokens = tokens.rows(), .cols = tokens.cols()};
  result.codes.resize(tokens.values().size());
  for (size_t t = 0; t < tokens.rows(); ++t) {
    const auto values = tokens.row(t);
    const auto bad = std::ranges::find_if_not(values, [](float x) { return std::isfinite(x); });
    if (bad != values.end()) {
      return fail(fmt::format("activation {} of token {} is {}; it must be finite",
                              bad - values.begin(), t, *bad));
    }
    const float bound = std::max(largest_magnitude(values), epsilon);
    const float factor = finite_quotient(127.0f, bound);
    const auto codes = std::span(result.codes).subspan(t * tokens.cols(), tokens.cols());
    for (size_t i = 0; i < values.size(); ++i) {
      codes[i] = static_cast<int8_t>(round_clipped(values[i] * factor, -128, 127));
    }
    result.scales.push_back(bound / 127.0f);
    result.sums.push_back(std::accumulate(codes.begin(), codes.end(), int32_t{0}));
  }
  return result;
}

}  // namespace trilobite::quant
