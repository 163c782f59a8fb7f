#pragma once
// Dense copies of strided views: transpose, slice, reshape of what is not dense, and inputs of
// kernels that want dense rows. Copies bits; no instruction set matters here.

#include <cstddef>

#include "tensor/view.hpp"

namespace trilobite::kernels {

/// Rows of a view: all dimensions but the last, flattened. A scalar has one row.
size_t row_count(const ConstTensorView& view);

/// Rows [row_begin, row_end) of `view` to their places in the dense row-major copy at `to`.
/// Transposed planes go block by block, so give threads at least kCopyBlock rows each.
inline constexpr size_t kCopyBlock = 32;
void copy_rows(const ConstTensorView& view, size_t row_begin, size_t row_end, void* to);

}  // namespace trilobite::kernels
