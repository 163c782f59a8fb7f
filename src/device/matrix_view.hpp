#pragma once
// Tensors seen as stacks of matrices: the last two dimensions are a matrix, the others count them.

#include <optional>

#include "tensor/view.hpp"

namespace trilobite {

/// A matrix whose rows (columns, if transposed) are dense: what BLAS can read in place.
struct MatrixLayout {
  bool transposed;
  int64_t leading;  // distance between rows (columns, if transposed), at least 1
};
/// Of a view of rank 2; nothing when neither rows nor columns are dense.
std::optional<MatrixLayout> matrix_layout(const ConstTensorView& matrix);
/// Of a matrix that is known to have one, because it was copied or asked about before.
MatrixLayout layout_of_readable(const ConstTensorView& matrix);

/// How many matrices a view of rank 2 or more holds.
int64_t matrix_count(const ConstTensorView& view);

/// Matrix number `index` of them in row-major order, as a view of rank 2.
ConstTensorView matrix_at(const ConstTensorView& view, int64_t index);

/// All matrices below each other as one, where no copy is needed for that: a product of a stack
/// with one matrix is then a single product.
std::optional<ConstTensorView> as_one_matrix(const ConstTensorView& view);

}  // namespace trilobite
