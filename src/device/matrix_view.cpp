#include "device/matrix_view.hpp"

#include <algorithm>

namespace trilobite {

std::optional<MatrixLayout> matrix_layout(const ConstTensorView& matrix) {
  TRILOBITE_CHECK(matrix.shape().rank() == 2);
  const int64_t rows = matrix.shape()[0];
  const int64_t columns = matrix.shape()[1];
  // The stride of a dimension with one element means nothing and may be anything.
  const int64_t row_stride = rows > 1 ? matrix.strides()[0] : std::max(columns, int64_t{1});
  const int64_t column_stride = columns > 1 ? matrix.strides()[1] : 1;
  if (column_stride == 1 && row_stride >= std::max(columns, int64_t{1})) {
    return MatrixLayout{.transposed = false, .leading = row_stride};
  }
  const int64_t distance = columns > 1 ? matrix.strides()[1] : std::max(rows, int64_t{1});
  if ((rows <= 1 || matrix.strides()[0] == 1) && distance >= std::max(rows, int64_t{1})) {
    return MatrixLayout{.transposed = true, .leading = distance};
  }
  return std::nullopt;
}

MatrixLayout layout_of_readable(const ConstTensorView& matrix) {
  const auto layout = matrix_layout(matrix);
  TRILOBITE_CHECK(layout.has_value());
  return *layout;
}

int64_t matrix_count(const ConstTensorView& view) {
  int64_t count = 1;
  for (size_t i = 0; i + 2 < view.shape().rank(); ++i) count *= view.shape()[i];
  return count;
}

ConstTensorView matrix_at(const ConstTensorView& view, int64_t index) {
  const size_t rank = view.shape().rank();
  int64_t offset = 0;
  for (size_t i = rank - 2; i-- > 0;) {
    offset += index % view.shape()[i] * view.strides()[i];
    index /= view.shape()[i];
  }
  return {view.at(offset), view.dtype(), Shape{view.shape()[rank - 2], view.shape()[rank - 1]},
          Strides{view.strides()[rank - 2], view.strides()[rank - 1]}};
}

std::optional<ConstTensorView> as_one_matrix(const ConstTensorView& view) {
  const size_t rank = view.shape().rank();
  return view.reshape({matrix_count(view) * view.shape()[rank - 2], view.shape()[rank - 1]});
}

}  // namespace trilobite
