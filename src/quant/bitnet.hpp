#pragma once
// The rules of BitNet b1.58 (Ma et al., "The Era of 1-bit LLMs", 2024): ternary weights by absmean,
// int8 activations by absmax. How ternary weights are packed is the business of other files.

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "quant/matrix.hpp"

namespace trilobite::quant {

/// Of the published training code, for weights and activations alike.
inline constexpr float kBitnetEpsilon = 1e-5f;

/// Where epsilon enters. The paper divides by gamma + epsilon; the published training code and
/// converters divide by max(gamma, epsilon). Weights next to half of gamma can differ by that.
enum class EpsilonRule { added, floor };

struct AbsmeanOptions {
  bool per_channel = false;  // one scale per row instead of one for the matrix
  float epsilon = kBitnetEpsilon;
  EpsilonRule rule = EpsilonRule::added;
};

/// Weights in {-1, 0, 1}; the weight itself is code * scale.
struct TernaryMatrix {
  size_t rows = 0;
  size_t cols = 0;
  std::vector<int8_t> codes;  // [rows, cols]
  std::vector<float> scales;  // [1] or [rows]: gamma = mean |W|, without epsilon

  float scale_of(size_t row) const { return scales[scales.size() == 1 ? 0 : row]; }
};

/// Mean of the magnitudes, summed in double in the order of the elements. At least one element.
float mean_magnitude(std::span<const float> values);

/// q = clip(round(W / (gamma + epsilon)), -1, 1), ties to even: a weight of exactly half the
/// divisor becomes 0. NaN becomes 0; callers that can meet one look first (quant/scheme.hpp does).
TernaryMatrix quantize_absmean(MatrixView weights, const AbsmeanOptions& options = {});

/// The weights that the codes stand for; `values` has rows * cols places.
void dequantize_ternary(const TernaryMatrix& ternary, std::span<float> values);
std::vector<float> dequantize_ternary(const TernaryMatrix& ternary);

/// One token per row.
struct Int8Activations {
  size_t tokens = 0;
  size_t cols = 0;
  std::vector<int8_t> codes;  // [tokens, cols], in [-127, 127]
  std::vector<float> scales;  // [tokens]: x is about code * scale; max(|x|, epsilon) / 127
  std::vector<int32_t> sums;  // [tokens]: of the codes; y = (sum (w+1)*q - sum q) * scales
};

/// s = 127 / max(|x|, epsilon), q = clip(round(x * s), -128, 127), ties to even, each token by
/// itself. A value that is not finite, or a row of more than 2^24 columns, is an error.
Result<Int8Activations> quantize_absmax(MatrixView tokens, float epsilon = kBitnetEpsilon);

}  // namespace trilobite::quant
