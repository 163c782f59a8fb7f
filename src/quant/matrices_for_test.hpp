#pragma once
// Weights that the tests of all formats share, and a short way to views of them.

#include <vector>

#include "base/rng.hpp"
#include "quant/matrix.hpp"

namespace trilobite::quant::fixtures {

/// An f32 matrix that owns its values.
struct Weights {
  size_t rows;
  size_t cols;
  std::vector<float> values;

  MatrixView view() const { return MatrixView::from(values, rows, cols).value(); }
};

inline Weights gaussian(size_t rows, size_t cols, float sigma = 0.02f, uint64_t seed = 7) {
  Weights weights{rows, cols, std::vector<float>(rows * cols)};
  for (size_t i = 0; i < weights.values.size(); ++i) {
    weights.values[i] = sigma * normal_at(seed, 0, i);
  }
  return weights;
}

/// -scale, 0 and scale, about equally often.
inline Weights ternary(size_t rows, size_t cols, float scale = 0.04f, uint64_t seed = 7) {
  Weights weights{rows, cols, std::vector<float>(rows * cols)};
  Rng rng(seed);
  for (float& value : weights.values) value = scale * (static_cast<float>(rng.below(3)) - 1.0f);
  return weights;
}

}  // namespace trilobite::quant::fixtures
