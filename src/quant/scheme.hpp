#pragma once
// The one table of number formats. Tests, documents, the benchmark suite and file readers loop over
// it, so that a format cannot be added untested. A scheme is known by the name that users write.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quant/matrix.hpp"

namespace trilobite::quant {

/// What shares one scale.
enum class Granularity {
  none,     ///< no scale: every number stands for itself
  tensor,   ///< the matrix
  channel,  ///< a row
  group,    ///< `block` neighbours in a row; the last group of a row may be shorter
  block     ///< `block` neighbours in a row, packed together with their scale; only whole blocks
};
std::string_view name_of(Granularity granularity);

struct Scheme {
  std::string name;  // as users write it
  std::string what;  // one line
  Granularity granularity = Granularity::none;
  size_t block = 0;        // of Granularity::group and block
  unsigned code_bits = 0;  // of one code, to whole bits: 2 for ternary weights; 0 for floats
  /// Of codes and scales in a matrix so large that one scale per matrix or row does not count.
  double bits_per_weight = 0;
  size_t row_multiple = 1;  // rows and columns must be multiples of these
  size_t column_multiple = 1;
  float largest_magnitude = 0;  // weights beyond this are refused

  // Called through the functions below, which check what these rely on.
  std::function<StoredSize(size_t rows, size_t cols)> size;
  std::function<void(MatrixView, QuantizedMatrix&)> encode;
  std::function<Result<void>(const QuantizedView&, std::span<float>)> decode;
};

/// Every scheme, in the order in which lists show them. Of the grouped ones the usual sizes.
const std::vector<Scheme>& all_schemes();

/// By name; also "f16" and "f32", and grouped integers of any size ("int4-g48", "int8-g5-asym").
/// The error lists the names.
Result<Scheme> find_scheme(std::string_view name);

/// What a matrix of this shape takes. An error when the scheme cannot hold the shape.
Result<StoredSize> stored_size(const Scheme& scheme, size_t rows, size_t cols);

/// Errors: a shape that the scheme cannot hold, a weight that is not finite or too large.
Result<QuantizedMatrix> quantize(const Scheme& scheme, MatrixView weights);

/// Trusts nothing: sizes, scales and codes are checked, and the error says which is wrong. Values
/// are what the format's formula gives in f32; a scale near the largest f32 may give infinity, and
/// the schemes that store floats (fp32, fp16, bf16) return NaN and infinity as they are.
Result<std::vector<float>> dequantize(const Scheme& scheme, const QuantizedView& packed);
/// The same for a matrix that knows its scheme.
Result<std::vector<float>> dequantize(const QuantizedMatrix& packed);

}  // namespace trilobite::quant
