#pragma once
// How far a restored matrix is from the original. Sums are in double, in the order of the elements.

#include <span>

#include "quant/matrix.hpp"

namespace trilobite::quant {

/// Of equal inputs, all-zero ones included: errors 0, SNR infinite, cosine 1. When exactly one of
/// the two is all zero: cosine 0; SNR is then 0 dB (restored is zero) or minus infinity (original
/// is zero). A value that is not finite in either makes every measure NaN.
struct ErrorMeasures {
  double max_abs_error = 0;
  double rmse = 0;
  double snr_db = 0;  // 10 log10(sum original^2 / sum error^2)
  double cosine = 0;  // of the angle between the two as vectors
};

/// What the measures are made of, for matrices that come in pieces.
class ErrorSums {
 public:
  /// The spans must have the same length.
  void add(std::span<const float> original, std::span<const float> restored);
  void add(const ErrorSums& other);
  /// Of everything added; at least one element.
  ErrorMeasures measures() const;

 private:
  size_t count_ = 0;
  double original_ = 0;  // of squares
  double restored_ = 0;
  double product_ = 0;
  double error_ = 0;
  double largest_error_ = 0;
};

/// The spans must have the same length, at least 1.
ErrorMeasures measure_error(std::span<const float> original, std::span<const float> restored);

/// How many times smaller the packed form is than f32: 4 * rows * cols / total bytes.
double memory_reduction(const QuantizedMatrix& packed);

}  // namespace trilobite::quant
