#pragma once
// The inner pieces of the matrix product, compiled for every instruction set: packing into panels
// and multiplying packed panels in registers. gemm.hpp arranges them around caches and threads.

#include <cstddef>

#include "tensor/dtype.hpp"

namespace trilobite::kernels {

/// The block of the result that one pass of the innermost loop keeps in registers.
struct GemmTile {
  size_t rows;     // height of a panel of A
  size_t columns;  // width of a panel of B
};
/// Of the current instruction set.
GemmTile gemm_tile();

/// `lines` lines (rows of A or columns of B) of `depth` elements each become f32 panels of `width`
/// lines: packed[panel][k][width], the last panel filled up with zeros.
struct PackCall {
  DType dtype;
  const void* from;
  ptrdiff_t line_stride;   // in elements, from line to line
  ptrdiff_t depth_stride;  // in elements, along a line
  size_t lines;
  size_t depth;
  size_t width;  // tile.rows or tile.columns
  float* packed;
};
void pack_panels(const PackCall& call);

/// c (+)= a b, b being packed panels. a is packed as well, or (a_stride != 0) a matrix with dense
/// rows, used where it lies; then at least tile.rows rows up to the last one can be read.
struct PanelProduct {
  const float* a;
  size_t a_stride;  // from row to row; 0 when a is packed
  const float* b;
  size_t depth;
  size_t rows;
  size_t columns;
  float* c;
  size_t c_stride;
  bool accumulate;  // false: c is overwritten
};
void multiply_panels(const PanelProduct& call);

}  // namespace trilobite::kernels
