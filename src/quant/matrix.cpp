#include "quant/matrix.hpp"

#include <fmt/format.h>

#include <limits>

namespace trilobite::quant {

Result<size_t> count_elements(size_t rows, size_t cols) {
  if (rows == 0 || cols == 0) {
    return fail(
        fmt::format("a {} x {} matrix has no elements; there must be at least one", rows, cols));
  }
  // A sixteenth of the address space: no format stores more than 4 bytes and a scale per element.
  constexpr size_t kMostElements = std::numeric_limits<size_t>::max() / 16;
  if (rows > kMostElements / cols) {
    return fail(fmt::format("a {} x {} matrix is too large to be addressed", rows, cols));
  }
  return rows * cols;
}

Result<MatrixView> MatrixView::from(std::span<const float> values, size_t rows, size_t cols) {
  const auto elements = count_elements(rows, cols);
  if (!elements) return fail_from(elements);
  if (values.size() != *elements) {
    return fail(fmt::format("a {} x {} matrix needs {} values, there are {}", rows, cols, *elements,
                            values.size()));
  }
  return MatrixView(values, rows);
}

}  // namespace trilobite::quant
