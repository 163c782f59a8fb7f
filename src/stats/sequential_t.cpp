#include "stats/sequential_t.hpp"

#include <cmath>
#include <limits>

namespace trilobite::stats {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Moments {
  double count = 0;
  double mean = 0;
  double variance = 0;  // of one value, n - 1 in the denominator
};

Moments moments_of(std::span<const double> values) {
  Moments moments{.count = static_cast<double>(values.size())};
  for (const double value : values) moments.mean += value / moments.count;
  for (const double value : values) {
    const double distance = value - moments.mean;
    moments.variance += distance * distance / (moments.count - 1);
  }
  return moments;
}

/// 1 + n tau^2: how much wider the mean is spread under the alternative.
double widening(const Moments& moments, const SequentialPrior& prior) {
  return 1 + moments.count * prior.spread * prior.spread;
}

}  // namespace

double e_value(std::span<const double> values, double mean, const SequentialPrior& prior) {
  if (values.size() < 2) return 1;
  const auto moments = moments_of(values);
  const double distance = moments.mean - mean;
  if (moments.variance == 0) return distance == 0 ? 1 : kInfinite;
  const double degrees = moments.count - 1;
  const double t_squared = distance * distance * moments.count / moments.variance;
  const double wide = widening(moments, prior);
  const double logarithm = -0.5 * std::log(wide) + moments.count / 2 *
                                                       (std::log1p(t_squared / degrees) -
                                                        std::log1p(t_squared / (degrees * wide)));
  return std::exp(logarithm);
}

Interval confidence_sequence(std::span<const double> values, double alpha,
                             const SequentialPrior& prior) {
  if (values.size() < 2) return {-kInfinite, kInfinite};
  const auto moments = moments_of(values);
  const double degrees = moments.count - 1;
  const double wide = widening(moments, prior);
  // Solves e_value = 1 / alpha for t^2.
  const double ratio = std::pow(std::sqrt(wide) / alpha, 2 / moments.count);
  if (ratio >= wide) return {-kInfinite, kInfinite};
  const double t_squared = degrees * (ratio - 1) / (1 - ratio / wide);
  const double reach = std::sqrt(t_squared * moments.variance / moments.count);
  return {moments.mean - reach, moments.mean + reach};
}

}  // namespace trilobite::stats
