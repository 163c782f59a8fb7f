#include "kernels/copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace trilobite::kernels {
namespace {

/// Two dimensions, strides in elements; `to` is dense.
template <typename T>
struct Plane {
  const T* from;
  ptrdiff_t row_stride;
  ptrdiff_t column_stride;
  size_t rows;
  size_t columns;
  T* to;
};

/// Reads and writes stay within kCopyBlock cache lines each, whatever the strides.
template <typename T>
void copy_blocks(const Plane<T>& plane) {
  for (size_t row0 = 0; row0 < plane.rows; row0 += kCopyBlock) {
    const size_t row1 = std::min(plane.rows, row0 + kCopyBlock);
    for (size_t column0 = 0; column0 < plane.columns; column0 += kCopyBlock) {
      const size_t column1 = std::min(plane.columns, column0 + kCopyBlock);
      for (size_t row = row0; row < row1; ++row) {
        const T* from = plane.from + static_cast<ptrdiff_t>(row) * plane.row_stride;
        T* to = plane.to + row * plane.columns;
        for (size_t column = column0; column < column1; ++column) {
          to[column] = from[static_cast<ptrdiff_t>(column) * plane.column_stride];
        }
      }
    }
  }
}

template <typename T>
void copy_plane(const Plane<T>& plane) {
  if (plane.column_stride != 1 && plane.columns > 1) return copy_blocks(plane);
  const size_t row_bytes = plane.columns * sizeof(T);
  if (plane.row_stride == static_cast<ptrdiff_t>(plane.columns)) {
    std::memcpy(plane.to, plane.from, plane.rows * row_bytes);
    return;
  }
  for (size_t row = 0; row < plane.rows; ++row) {
    const T* from = plane.from + static_cast<ptrdiff_t>(row) * plane.row_stride;
    std::memcpy(plane.to + row * plane.columns, from, row_bytes);
  }
}

/// Offset in elements of the plane with this number, counted over all dimensions but the last two.
ptrdiff_t plane_offset(const ConstTensorView& view, size_t plane) {
  ptrdiff_t offset = 0;
  for (size_t dim = view.shape().rank() - 2; dim-- > 0;) {
    const auto extent = static_cast<size_t>(view.shape()[dim]);
    offset += static_cast<ptrdiff_t>(plane % extent) * view.strides()[dim];
    plane /= extent;
  }
  return offset;
}

template <typename T>
void copy_typed(const ConstTensorView& view, size_t row_begin, size_t row_end, T* to) {
  const size_t rank = view.shape().rank();
  const size_t columns = rank == 0 ? 1 : static_cast<size_t>(view.shape()[rank - 1]);
  const size_t plane_rows = rank < 2 ? 1 : static_cast<size_t>(view.shape()[rank - 2]);
  for (size_t row = row_begin; row < row_end;) {
    const size_t first = row % plane_rows;
    const size_t rows = std::min(plane_rows - first, row_end - row);
    const ptrdiff_t row_stride = rank < 2 ? 0 : view.strides()[rank - 2];
    const ptrdiff_t offset = rank < 2 ? 0
                                      : plane_offset(view, row / plane_rows) +
                                            static_cast<ptrdiff_t>(first) * row_stride;
    copy_plane<T>({.from = reinterpret_cast<const T*>(view.bytes()) + offset,
                   .row_stride = row_stride,
                   .column_stride = rank == 0 ? 1 : view.strides()[rank - 1],
                   .rows = rows,
                   .columns = columns,
                   .to = to + row * columns});
    row += rows;
  }
}

}  // namespace

size_t row_count(const ConstTensorView& view) {
  size_t rows = 1;
  for (size_t dim = 0; dim + 1 < view.shape().rank(); ++dim) {
    rows *= static_cast<size_t>(view.shape()[dim]);
  }
  return rows;
}

void copy_rows(const ConstTensorView& view, size_t row_begin, size_t row_end, void* to) {
  if (view.elements() == 0) return;
  switch (size_of(view.dtype())) {
    case 1: return copy_typed(view, row_begin, row_end, static_cast<uint8_t*>(to));
    case 2: return copy_typed(view, row_begin, row_end, static_cast<uint16_t*>(to));
    default: return copy_typed(view, row_begin, row_end, static_cast<uint32_t*>(to));
  }
}

}  // namespace trilobite::kernels
