#include "stats/median_interval.hpp"

#include <cmath>

#include "stats/distributions.hpp"

namespace trilobite::stats {
namespace {

/// P(x_(depth) <= median <= x_(n+1-depth)), depth counted from 1: the median lies outside when
/// fewer than `depth` of n values fall on one side of it.
double confidence_at(size_t n, size_t depth) { return 1 - 2 * fair_coin_cdf(n, depth - 1); }

/// The largest depth whose interval still reaches `confidence`; 1 when none does.
size_t depth_reaching(size_t n, double confidence) {
  size_t reaching = 1;
  size_t missing = (n + 1) / 2 + 1;  // at this depth the two ends have crossed
  while (missing - reaching > 1) {
    const size_t middle = reaching + (missing - reaching) / 2;
    (confidence_at(n, middle) >= confidence ? reaching : missing) = middle;
  }
  return reaching;
}

}  // namespace

double largest_median_confidence(size_t n) { return 1 - std::ldexp(1.0, 1 - static_cast<int>(n)); }

Interval median_interval(const Sample& sample, double confidence) {
  TRILOBITE_CHECK(confidence > 0 && confidence < 1);
  const auto x = sample.sorted();
  const size_t n = x.size();
  if (n < 2 || confidence >= confidence_at(n, 1)) return {x.front(), x.back()};

  const size_t depth = depth_reaching(n, confidence);
  const size_t low = depth - 1;                      // index of the lower end of the outer interval
  const size_t high = n - depth;                     // and of its upper end
  if (low + 1 > high - 1) return {x[low], x[high]};  // the two middle values: nothing further in

  const double outer = confidence_at(n, depth);
  const double inner = confidence_at(n, depth + 1);
  const double share = (outer - confidence) / (outer - inner);
  // Not `share` itself: this weight is exact for the double exponential distribution and close for
  // other symmetric and skewed ones (Hettmansperger & Sheather 1986), a plain linear one is not.
  const auto outside = static_cast<double>(depth);
  const auto inside = static_cast<double>(n - depth);
  const double weight = inside * share / (outside + (inside - outside) * share);
  return {std::lerp(x[low], x[low + 1], weight), std::lerp(x[high], x[high - 1], weight)};
}

}  // namespace trilobite::stats
