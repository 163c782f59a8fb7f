#include "stats/moderated_variance.hpp"

#include <cmath>
#include <limits>

#include "stats/distributions.hpp"

namespace trilobite::stats {
namespace {

constexpr size_t kFewestGroups = 3;

/// The x with trigamma(x) = value, by Newton's method on 1/trigamma, which is nearly linear.
double inverse_trigamma(double value) {
  double x = 0.5 + 1 / value;
  for (int i = 0; i < 50; ++i) {
    const double current = trigamma(x);
    const double step = current * (1 - current / value) / polygamma2(x);
    x += step;
    if (-step / x < 1e-10) break;
  }
  return x;
}

}  // namespace

Variance usual_variance(std::span<const Variance> groups) {
  std::vector<double> logarithms;
  double expected_spread = 0;
  for (const auto& group : groups) {
    if (!(group.value > 0) || !(group.degrees_of_freedom > 0)) continue;
    const double half = group.degrees_of_freedom / 2;
    logarithms.push_back(std::log(group.value) - digamma(half) + std::log(half));
    expected_spread += trigamma(half);
  }
  if (logarithms.size() < kFewestGroups) return {0, 0};
  const auto count = static_cast<double>(logarithms.size());
  double mean = 0;
  for (const double value : logarithms) mean += value / count;
  double spread = 0;
  for (const double value : logarithms) spread += (value - mean) * (value - mean) / (count - 1);
  // What the groups differ by beyond the chance of their few values.
  const double excess = spread - expected_spread / count;
  if (excess <= 0) return {std::exp(mean), std::numeric_limits<double>::infinity()};
  const double half = inverse_trigamma(excess);
  return {std::exp(mean + digamma(half) - std::log(half)), 2 * half};
}

Variance moderated(const Variance& own, const Variance& usual) {
  if (std::isinf(usual.degrees_of_freedom)) return usual;
  const double total = own.degrees_of_freedom + usual.degrees_of_freedom;
  if (!(total > 0)) return {0, 0};
  return {(own.value * own.degrees_of_freedom + usual.value * usual.degrees_of_freedom) / total,
          total};
}

}  // namespace trilobite::stats
