#include "stats/theil_sen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/describe.hpp"
#include "stats/distributions.hpp"
#include "stats/sample.hpp"

namespace trilobite::stats {
namespace {

std::vector<double> sorted_pair_slopes(std::span<const double> x, std::span<const double> y) {
  std::vector<double> slopes;
  slopes.reserve(x.size() * (x.size() - 1) / 2);
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = i + 1; j < x.size(); ++j) {
      if (x[i] != x[j]) slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    }
  }
  std::ranges::sort(slopes);
  return slopes;
}

double kendall_term(double n) { return n * (n - 1) * (2 * n + 5); }

/// The terms of all groups of equal values together.
double tie_terms(std::span<const double> sorted) {
  double sum = 0;
  for (auto it = sorted.begin(); it != sorted.end();) {
    const auto end = std::upper_bound(it, sorted.end(), *it);
    sum += kendall_term(static_cast<double>(end - it));
    it = end;
  }
  return sum;
}

/// Sen (1968), equation 2.6: the standard deviation of Kendall's score, with ties in x and in y.
double score_deviation(const Sample& x, const Sample& y) {
  const double variance = (kendall_term(static_cast<double>(x.size())) - tie_terms(x.sorted()) -
                           tie_terms(y.sorted())) /
                          18;
  return std::sqrt(std::max(0.0, variance));
}

Interval slope_interval(std::span<const double> slopes, double deviation, double confidence) {
  const auto count = static_cast<double>(slopes.size());
  const double reach = normal_quantile((1 + confidence) / 2) * deviation;
  // Rounded half to even and limited as scipy.stats.theilslopes does.
  const double low = std::max(std::nearbyint((count - reach) / 2) - 1, 0.0);
  const double high = std::min(std::nearbyint((count + reach) / 2), count - 1);
  return {slopes[static_cast<size_t>(low)], slopes[static_cast<size_t>(high)]};
}

}  // namespace

Result<TheilSen> theil_sen(std::span<const double> x, std::span<const double> y,
                           double confidence) {
  TRILOBITE_CHECK(confidence > 0 && confidence < 1);
  if (x.size() != y.size()) {
    return fail(fmt::format("a line needs as many x as y, it got {} and {}", x.size(), y.size()));
  }
  const auto xs = Sample::from({x.begin(), x.end()});
  if (!xs) return fail_from(xs, "x of a Theil-Sen line");
  const auto ys = Sample::from({y.begin(), y.end()});
  if (!ys) return fail_from(ys, "y of a Theil-Sen line");
  if (xs->is_constant()) {
    return fail(fmt::format("a slope needs two different x, all {} are {}", x.size(), xs->min()));
  }
  const auto slopes = sorted_pair_slopes(x, y);
  const double slope = median_of_sorted(slopes);
  return TheilSen{.slope = slope,
                  .intercept = median(*ys) - slope * median(*xs),
                  .slope_interval = slope_interval(slopes, score_deviation(*xs, *ys), confidence)};
}

}  // namespace trilobite::stats
