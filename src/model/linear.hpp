#pragma once
// One weight matrix of a model in the form that its kernel reads, with the scale and bias that
// belong to it: y = W x * scale + bias.

#include <cstddef>
#include <initializer_list>
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

struct Projection;

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
  bool is_dense() const { return std::holds_alternative<DenseWeights>(weights_); }
  /// "dense f16", "ternary 2.0", "groups of 4 bits", ...
  std::string_view kernel() const;

  /// out[token][row] for all tokens of the input, `rows()` apart. The result does not depend on the
  /// number of threads. An error when an activation is not finite.
  Result<void> multiply(ProjectionInput& input, Compute compute, float* out) const;

 private:
  friend Result<void> multiply_all(std::initializer_list<Projection>, ProjectionInput&, Compute);

  /// How the threads share a product: units of `rows` rows, at least `grain` units at a time.
  struct Cut {
    size_t rows;
    size_t grain;
  };
  /// Nothing where the product is left to a Gemm, which cuts it itself.
  std::optional<Cut> cut(size_t tokens) const;
  Result<void> make_input(ProjectionInput& input, ThreadPool& pool) const;
  Result<void> multiply_units(const ProjectionInput& input, size_t first, size_t last,
                              float* out) const;
  Result<void> multiply_by_gemm(const ProjectionInput& input, Compute compute, float* out) const;
  void scale_and_shift(size_t tokens, size_t first_row, size_t last_row, float* out) const;

  Weights weights_;
  float scale_;
  std::vector<float> bias_;
};

/// A matrix and where its product goes.
struct Projection {
  const Linear& linear;
  float* out;
};
/// Linear::multiply for several matrices with the same input, as one piece of work for the threads:
/// beginning and ending one costs as much as reading a hundred kilobytes.
Result<void> multiply_all(std::initializer_list<Projection> projections, ProjectionInput& input,
                          Compute compute);

}  // namespace trilobite::model
