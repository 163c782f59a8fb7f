#include "stats/mann_whitney.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "stats/distributions.hpp"

namespace trilobite::stats {
namespace {

constexpr size_t kLargestExactSmaller = 8;
constexpr size_t kLargestExactLarger = 10'000;

// Counts of arrangements. The largest, C(10008, 8) < 2^92, fits; intermediate results may wrap, and
// as all arithmetic is modulo 2^128 the final counts are exact nevertheless.
__extension__ using Count = unsigned __int128;

struct RankedPair {
  double u = 0;         // of the first sample
  double tie_term = 0;  // sum of t^3 - t over groups of t equal values
};

RankedPair rank(std::span<const double> first, std::span<const double> second) {
  RankedPair ranked;
  size_t i = 0;
  size_t j = 0;
  while (i < first.size() || j < second.size()) {
    double value = std::numeric_limits<double>::infinity();
    if (i < first.size()) value = std::min(value, first[i]);
    if (j < second.size()) value = std::min(value, second[j]);
    const size_t smaller_in_second = j;
    const size_t i_before = i;
    while (i < first.size() && first[i] == value) ++i;
    while (j < second.size() && second[j] == value) ++j;
    const auto from_first = static_cast<double>(i - i_before);
    const auto from_second = static_cast<double>(j - smaller_in_second);
    ranked.u += from_first * (static_cast<double>(smaller_in_second) + from_second / 2);
    const double group = from_first + from_second;
    ranked.tie_term += group * group * group - group;
  }
  return ranked;
}

/// How many of the C(n+m, n) arrangements have U = u, for u = 0 .. `largest_u`: the coefficients of
/// the Gaussian binomial, the product over i = 1..n of (1 - q^(m+i)) / (1 - q^i).
std::vector<Count> arrangements(size_t n, size_t m, size_t largest_u) {
  std::vector<Count> counts(largest_u + 1, 0);
  counts[0] = 1;
  for (size_t i = 1; i <= n; ++i) {
    for (size_t u = largest_u; u >= m + i; --u) counts[u] -= counts[u - m - i];
    for (size_t u = i; u <= largest_u; ++u) counts[u] += counts[u - i];
  }
  return counts;
}

double exact_p_value(double u, size_t n, size_t m) {
  // The distribution is symmetric, so P(U >= larger of both) = P(U <= smaller of both).
  const auto pairs = static_cast<double>(n) * static_cast<double>(m);
  const auto smaller_u = static_cast<size_t>(std::min(u, pairs - u));
  Count at_most = 0;
  for (const Count count : arrangements(std::min(n, m), std::max(n, m), smaller_u)) {
    at_most += count;
  }
  Count all = 1;
  for (size_t i = 1; i <= std::min(n, m); ++i) all = all * (std::max(n, m) + i) / i;
  return std::min(1.0, 2 * (static_cast<double>(at_most) / static_cast<double>(all)));
}

/// Distance of U from its mean in standard deviations, with tie and continuity correction; negative
/// when the correction is larger than the distance.
double normal_score(const RankedPair& ranked, double n, double m) {
  const double pairs = n * m;
  const double total = n + m;
  const double variance = pairs / 12 * (total + 1 - ranked.tie_term / (total * (total - 1)));
  const double larger_u = std::max(ranked.u, pairs - ranked.u);
  if (variance <= 0) return 0;  // all values equal
  return (larger_u - pairs / 2 - 0.5) / std::sqrt(variance);
}

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

}  // namespace

MannWhitney mann_whitney(const Sample& first, const Sample& second) {
  const auto ranked = rank(first.sorted(), second.sorted());
  const size_t n = first.size();
  const size_t m = second.size();
  const bool exact = ranked.tie_term == 0 && std::min(n, m) <= kLargestExactSmaller &&
                     std::max(n, m) <= kLargestExactLarger;
  const double p_value =
      exact ? exact_p_value(ranked.u, n, m)
            : std::min(1.0, 2 * normal_survival(normal_score(ranked, static_cast<double>(n),
                                                             static_cast<double>(m))));
  return {.u = ranked.u, .p_value = p_value, .exact = exact};
}

double mann_whitney_z(std::span<const double> first, std::span<const double> second) {
  const auto ranked = rank(sorted_copy(first), sorted_copy(second));
  return std::max(0.0, normal_score(ranked, static_cast<double>(first.size()),
                                    static_cast<double>(second.size())));
}

}  // namespace trilobite::stats
