#include "stats/describe.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace trilobite::stats {

double median_of_sorted(std::span<const double> sorted) {
  const size_t n = sorted.size();
  return std::midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
}

// Summing distances from the median instead of the values keeps the digits when the spread is small
// beside the level, as it is for timings, and makes the mean of equal values exactly that value.
double mean_of_sorted(std::span<const double> sorted) {
  const double centre = median_of_sorted(sorted);
  double sum = 0;
  for (const double value : sorted) sum += value - centre;
  return centre + sum / static_cast<double>(sorted.size());
}

double percentile_of_sorted(std::span<const double> sorted, double percent) {
  TRILOBITE_CHECK(percent >= 0 && percent <= 100);
  const double position = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  return std::lerp(sorted[below], sorted[below + 1], position - static_cast<double>(below));
}

double median(const Sample& sample) { return median_of_sorted(sample.sorted()); }

double mean(const Sample& sample) { return mean_of_sorted(sample.sorted()); }

double percentile(const Sample& sample, double percent) {
  return percentile_of_sorted(sample.sorted(), percent);
}

double sd(const Sample& sample) {
  if (sample.size() == 1) return 0;
  const auto n = static_cast<double>(sample.size());
  const double centre = mean(sample);
  double sum = 0;
  double squares = 0;
  for (const double value : sample.sorted()) {
    sum += value - centre;
    squares += (value - centre) * (value - centre);
  }
  // The sum would be zero, were the mean not rounded; taking it out corrects for that rounding
  // (Chan, Golub & LeVeque 1983). Cauchy-Schwarz keeps the difference at or above zero up to
  // rounding, hence the max.
  return std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1));
}

double mad(const Sample& sample) {
  const double centre = median(sample);
  std::vector<double> distances;
  distances.reserve(sample.size());
  for (const double value : sample.sorted()) distances.push_back(std::abs(value - centre));
  std::ranges::sort(distances);
  return median_of_sorted(distances);
}

double scaled_mad(const Sample& sample) { return mad(sample) * kMadToSigma; }

}  // namespace trilobite::stats
