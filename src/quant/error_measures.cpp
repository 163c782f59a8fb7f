#include "quant/error_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trilobite::quant {

void ErrorSums::add(std::span<const float> original, std::span<const float> restored) {
  TRILOBITE_CHECK(original.size() == restored.size());
  ErrorSums sums;  // of its own, so that the compiler may keep them in registers
  for (size_t i = 0; i < original.size(); ++i) {
    const double a = original[i];
    const double b = restored[i];
    sums.original_ += a * a;
    sums.restored_ += b * b;
    sums.product_ += a * b;
    sums.error_ += (a - b) * (a - b);
    sums.largest_error_ = std::max(sums.largest_error_, std::abs(a - b));
  }
  sums.count_ = original.size();
  add(sums);
}

void ErrorSums::add(const ErrorSums& other) {
  count_ += other.count_;
  original_ += other.original_;
  restored_ += other.restored_;
  product_ += other.product_;
  error_ += other.error_;
  largest_error_ = std::max(largest_error_, other.largest_error_);
}

ErrorMeasures ErrorSums::measures() const {
  TRILOBITE_CHECK(count_ > 0);
  // Squares of f32 cannot overflow a double, so only an input that is not finite gets here.
  if (!std::isfinite(original_) || !std::isfinite(restored_)) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    return {kNan, kNan, kNan, kNan};
  }
  // 0 / 0 would be NaN; everything else comes out of the division as documented.
  const double ratio = error_ == 0 ? std::numeric_limits<double>::infinity() : original_ / error_;
  const double lengths = std::sqrt(original_) * std::sqrt(restored_);
  const double cosine = lengths > 0 ? std::clamp(product_ / lengths, -1.0, 1.0) : 0;
  return {.max_abs_error = largest_error_,
          .rmse = std::sqrt(error_ / static_cast<double>(count_)),
          .snr_db = 10 * std::log10(ratio),
          .cosine = error_ == 0 ? 1 : cosine};
}

ErrorMeasures measure_error(std::span<const float> original, std::span<const float> restored) {
  ErrorSums sums;
  sums.add(original, restored);
  return sums.measures();
}

double memory_reduction(const QuantizedMatrix& packed) {
  return 4.0 * static_cast<double>(packed.rows) * static_cast<double>(packed.cols) /
         static_cast<double>(packed.view().size().total_bytes());
}

}  // namespace trilobite::quant
