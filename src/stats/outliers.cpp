#include "stats/outliers.hpp"

#include "stats/describe.hpp"

namespace trilobite::stats {

Outliers count_outliers(const Sample& sample) {
  // Tukey (1977), Exploratory Data Analysis: inner fences at 1.5 IQR, outer fences at 3 IQR.
  constexpr double kMild = 1.5;
  constexpr double kSevere = 3.0;
  const double q1 = percentile(sample, 25);
  const double q3 = percentile(sample, 75);
  const double iqr = q3 - q1;

  Outliers outliers;
  for (const double value : sample.sorted()) {
    if (value < q1 - kSevere * iqr) {
      ++outliers.low_severe;
    } else if (value < q1 - kMild * iqr) {
      ++outliers.low_mild;
    } else if (value > q3 + kSevere * iqr) {
      ++outliers.high_severe;
    } else if (value > q3 + kMild * iqr) {
      ++outliers.high_mild;
    }
  }
  return outliers;
}

}  // namespace trilobite::stats
