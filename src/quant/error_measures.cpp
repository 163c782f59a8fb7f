#include "quant/error_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trilobite::quant {
namespace {

struct Sums {
  double original = 0;  // of squares
  double restored = 0;
  double product = 0;
  double error = 0;
  double largest_error = 0;
};

Sums sum_up(std::span<const float> original, std::span<const float> restored) {
  Sums sums;
  for (size_t i = 0; i < original.size(); ++i) {
    const double a = original[i];
    const double b = restored[i];
    sums.original += a * a;
    sums.restored += b * b;
    sums.product += a * b;
    sums.error += (a - b) * (a - b);
    sums.largest_error = std::max(sums.largest_error, std::abs(a - b));
  }
  return sums;
}

double cosine_of(const Sums& sums) {
  if (sums.error == 0) return 1;
  const double lengths = std::sqrt(sums.original) * std::sqrt(sums.restored);
  return lengths > 0 ? std::clamp(sums.product / lengths, -1.0, 1.0) : 0;
}

}  // namespace

ErrorMeasures measure_error(std::span<const float> original, std::span<const float> restored) {
  TRILOBITE_CHECK(original.size() == restored.size() && !original.empty());
  const Sums sums = sum_up(original, restored);
  // Squares of f32 cannot overflow a double, so only an input that is not finite gets here.
  if (!std::isfinite(sums.original) || !std::isfinite(sums.restored)) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    return {kNan, kNan, kNan, kNan};
  }
  // 0 / 0 would be NaN; everything else comes out of the division as documented.
  const double ratio =
      sums.error == 0 ? std::numeric_limits<double>::infinity() : sums.original / sums.error;
  return {.max_abs_error = sums.largest_error,
          .rmse = std::sqrt(sums.error / static_cast<double>(original.size())),
          .snr_db = 10 * std::log10(ratio),
          .cosine = cosine_of(sums)};
}

double memory_reduction(const QuantizedMatrix& packed) {
  return 4.0 * static_cast<double>(packed.rows) * static_cast<double>(packed.cols) /
         static_cast<double>(packed.view().size().total_bytes());
}

}  // namespace trilobite::quant
