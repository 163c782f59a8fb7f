#pragma once
// The activations that several projections of a layer share, in every form that a kind of weights
// wants. A form is made when it is first asked for and kept until the next `set`.

#include <cstddef>

#include "base/aligned_buffer.hpp"
#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "kernels/group_product.hpp"
#include "kernels/ternary_product.hpp"

namespace trilobite::model {

class ProjectionInput {
 public:
  /// Room for `tokens` x `columns`, taken once.
  static Result<ProjectionInput> create(size_t tokens, size_t columns);

  /// The activations from now on, [tokens][columns]; they must stay until the next call.
  void set(const float* x, size_t tokens, size_t columns);

  const float* values() const { return x_; }
  size_t tokens() const { return tokens_; }
  size_t columns() const { return columns_; }

  /// Makes the form with one scale a token, by the absmax rule. An error when an activation is NaN
  /// or infinite.
  Result<void> make_rows(ThreadPool& pool);
  /// Makes the form with one scale for every 32 columns, and the sums of both halves of each.
  Result<void> make_groups(ThreadPool& pool);
  /// What was made.
  kernels::Int8Rows rows() const;
  kernels::Int8Groups groups() const;

  size_t bytes() const;

 private:
  ProjectionInput() = default;
  size_t code_stride() const;

  const float* x_ = nullptr;
  size_t tokens_ = 0;
  size_t columns_ = 0;
  size_t max_tokens_ = 0;
  size_t max_columns_ = 0;
  bool has_rows_ = false;
  bool has_groups_ = false;
  AlignedBuffer row_codes_, row_scales_, row_sums_;
  AlignedBuffer group_codes_, group_scales_, group_sums_, group_half_sums_;
};

}  // namespace trilobite::model
