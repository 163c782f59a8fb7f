#pragma once
// A weight matrix that stays where it lies in the mapped file. Loading it costs a look at its
// bytes; every copy in a layout of our own would cost its size in fresh memory, which on a virtual
// machine can take ten times as long as reading the file (docs/adr/0008-weights-stay-mapped.md).

#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "kernels/stored_product.hpp"
#include "model/projection_input.hpp"
#include "quant/matrix.hpp"

namespace trilobite::model {

class StoredWeights {
 public:
  /// No value: the format is ternary, but scales differ within a row. Errors: a wrong number of
  /// bytes, scales that are not finite, codes that mean nothing.
  static Result<std::optional<StoredWeights>> look_at(kernels::StoredFormat format,
                                                      const quant::QuantizedView& packed,
                                                      ThreadPool& pool);

  size_t rows() const { return packed_.rows; }
  size_t columns() const { return packed_.cols; }
  size_t bytes() const { return packed_.bytes.size(); }
  kernels::StoredFormat format() const { return format_; }

  /// The form of the input that `multiply` reads.
  Result<void> make_input(ProjectionInput& input, ThreadPool& pool) const;
  /// How a product is cut: rows for few tokens, else panels of 64 rows.
  size_t unit_rows(size_t tokens) const;
  /// Units [first, last) of out[token][row], `rows()` apart.
  Result<void> multiply(const ProjectionInput& input, size_t first, size_t last, float* out) const;

 private:
  StoredWeights(kernels::StoredFormat format, const quant::QuantizedView& packed,
                std::vector<float> scales)
      : format_(format), packed_(packed), scales_(std::move(scales)) {}

  kernels::StoredRows stored_rows() const {
    return {format_, packed_.bytes.data(), packed_.rows, packed_.cols};
  }
  const float* row_scales(size_t first_row) const {
    return scales_.size() > 1 ? scales_.data() + first_row : nullptr;
  }
  quant::QuantizedView panel(size_t index) const;
  void multiply_few(const kernels::Int8Rows& x, size_t first, size_t last, float* out) const;
  void multiply_few(const kernels::Int8Groups& x, size_t first, size_t last, float* out) const;
  Result<void> multiply_panel(const kernels::Int8Rows& x, size_t index, float* out) const;
  Result<void> multiply_panel(const kernels::Int8Groups& x, size_t index, float* out) const;
  template <typename Activations>
  Result<void> multiply_by(const Activations& x, size_t first, size_t last, float* out) const;

  kernels::StoredFormat format_;
  quant::QuantizedView packed_;
  std::vector<float> scales_;  // ternary: [1], or [rows]
};

}  // namespace trilobite::model
