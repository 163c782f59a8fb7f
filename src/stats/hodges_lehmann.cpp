#include "stats/hodges_lehmann.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "stats/describe.hpp"
#include "stats/distributions.hpp"

namespace trilobite::stats {

Shift hodges_lehmann(std::span<const double> first, std::span<const double> second,
                     double confidence) {
  TRILOBITE_CHECK(!first.empty() && !second.empty() && confidence > 0 && confidence < 1);
  std::vector<double> differences;
  differences.reserve(first.size() * second.size());
  for (const double b : second)
    for (const double a : first) differences.push_back(b - a);
  std::ranges::sort(differences);
  const auto m = static_cast<double>(first.size());
  const auto n = static_cast<double>(second.size());
  const double z = normal_quantile(0.5 + confidence / 2);
  // The interval runs from the k-th smallest to the k-th largest difference, where U >= k with the
  // asked confidence.
  const double below = m * n / 2 - z * std::sqrt(m * n * (m + n + 1) / 12);
  const auto k = static_cast<size_t>(std::max(0.0, std::floor(below)));
  return {median_of_sorted(differences), {differences[k], differences[differences.size() - 1 - k]}};
}

}  // namespace trilobite::stats
