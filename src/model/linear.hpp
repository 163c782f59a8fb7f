#pragma once
// One weight matrix of a model in the form that its kernel reads, with the scale and bias that
// belong to it: y = W x * scale + bias.

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "kernels/gemm.hpp"
#include "kernels/ternary_weights.hpp"
#include "model/projection_input.hpp"
#include "model/stored_weights.hpp"
#include "quant/block_tiles.hpp"
#include "quant/group_tiles.hpp"
#include "quant/ternary_tiles.hpp"
#include "tensor/dtype.hpp"

namespace trilobite::model {

/// Weights where they lie in the mapped file, [rows][columns].
struct DenseWeights {
  DType dtype;
  const void* data;
  size_t row_count;
  size_t column_count;

  size_t rows() const { return row_count; }
  size_t columns() const { return column_count; }
  size_t bytes() const { return row_count * column_count * size_of(dtype); }
};

using Weights = std::variant<DenseWeights, StoredWeights, kernels::TernaryWeights,
                             quant::GroupTiles, quant::BlockTiles>;

/// What a projection needs besides its operands. One caller at a time.
struct Compute {
  ThreadPool& pool;
  kernels::Gemm& gemm;
};

class Linear {
 public:
  explicit Linear(Weights weights, float scale = 1.0f, std::vector<float> bias = {});

  size_t rows() const {
    return std::visit([](const auto& weights) { return weights.rows(); }, weights_);
  }
  size_t columns() const {
    return std::visit([](const auto& weights) { return weights.columns(); }, weights_);
  }
  /// Of the weights, all of which are read for one token.
  size_t bytes() const {
    return std::visit([](const auto& weights) { return weights.bytes(); }, weights_);
  }
  /// Whether the weights are the file's own bytes.
  bool is_mapped() const {
    return std::holds_alternative<DenseWeights>(weights_) ||
           std::holds_alternative<StoredWeights>(weights_);
  }
  /// "dense f16", "ternary 2.0", "groups of 4 bits", ...
  std::string_view kernel() const;

  /// out[token][row] for all tokens of the input, `rows()` apart. The result does not depend on the
  /// number of threads. An error when an activation is not finite.
  Result<void> multiply(ProjectionInput& input, Compute compute, float* out) const;

 private:
  Result<void> multiply_by(const DenseWeights& dense, ProjectionInput& input, Compute compute,
                           float* out) const;
  Result<void> multiply_by(const StoredWeights& stored, ProjectionInput& input, Compute compute,
                           float* out) const;
  Result<void> multiply_by(const kernels::TernaryWeights& ternary, ProjectionInput& input,
                           Compute compute, float* out) const;
  Result<void> multiply_by(const quant::GroupTiles& tiles, ProjectionInput& input, Compute compute,
                           float* out) const;
  Result<void> multiply_by(const quant::BlockTiles& tiles, ProjectionInput& input, Compute compute,
                           float* out) const;
  void scale_and_shift(size_t tokens, Compute compute, float* out) const;

  Weights weights_;
  float scale_;
  std::vector<float> bias_;
};

}  // namespace trilobite::model
