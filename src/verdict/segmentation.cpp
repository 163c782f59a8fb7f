#include "verdict/segmentation.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.hpp"

namespace trilobite::verdict {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

/// Sum of squared distances from the mean of any stretch, in constant time.
class SquaredError {
 public:
  explicit SquaredError(std::span<const double> values)
      : sums_(values.size() + 1), squares_(values.size() + 1) {
    // Differences of sums lose digits when all values are large: distances from the mean do not.
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                        static_cast<double>(std::max<size_t>(1, values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      const double value = values[i] - mean;
      sums_[i + 1] = sums_[i] + value;
      squares_[i + 1] = squares_[i] + value * value;
    }
  }
  double operator()(size_t begin, size_t end) const {
    const double sum = sums_[end] - sums_[begin];
    return squares_[end] - squares_[begin] - sum * sum / static_cast<double>(end - begin);
  }

 private:
  std::vector<double> sums_;
  std::vector<double> squares_;
};

// Without changes every beginning stays possible, and time would grow with the square of the
// length.
constexpr size_t kMostBeginnings = 4096;

/// Of neighbours in the older half the cheaper one stays: a real change is far cheaper than what
/// lies beside it.
void thin_out(std::vector<size_t>& beginnings, const std::vector<double>& costs) {
  const size_t older = beginnings.size() / 4;  // pairs
  for (size_t pair = 0; pair < older; ++pair) {
    const bool second = costs[2 * pair + 1] < costs[2 * pair];
    beginnings[pair] = beginnings[2 * pair + (second ? 1 : 0)];
  }
  beginnings.erase(beginnings.begin() + static_cast<std::ptrdiff_t>(older),
                   beginnings.begin() + static_cast<std::ptrdiff_t>(2 * older));
}

std::vector<size_t> changes_on_the_way_back(const std::vector<size_t>& previous) {
  std::vector<size_t> changes;
  for (size_t end = previous.back(); end > 0; end = previous[end]) changes.push_back(end);
  std::ranges::reverse(changes);
  return changes;
}

}  // namespace

std::vector<size_t> best_segmentation(std::span<const double> values,
                                      const SegmentationSettings& settings) {
  TRILOBITE_CHECK(settings.shortest_segment >= 1 && settings.penalty >= 0);
  const size_t shortest = settings.shortest_segment;
  if (values.size() < 2 * shortest) return {};
  const SquaredError error(values);
  std::vector<double> best(values.size() + 1, kNone);  // cost of the first t values
  std::vector<size_t> previous(values.size() + 1, 0);  // where the last stretch begins
  best[0] = -settings.penalty;
  std::vector<size_t> candidates{0};
  std::vector<double> costs;
  for (size_t end = shortest; end <= values.size(); ++end) {
    if (end >= 2 * shortest) candidates.push_back(end - shortest);
    costs.resize(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) {
      costs[i] = best[candidates[i]] + error(candidates[i], end);
      if (costs[i] + settings.penalty < best[end]) {
        best[end] = costs[i] + settings.penalty;
        previous[end] = candidates[i];
      }
    }
    // A beginning that already costs more than the best whole can never win again.
    size_t kept = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (costs[i] > best[end]) continue;
      costs[kept] = costs[i];
      candidates[kept++] = candidates[i];
    }
    candidates.resize(kept);
    if (kept > kMostBeginnings) thin_out(candidates, costs);
  }
  return changes_on_the_way_back(previous);
}

}  // namespace trilobite::verdict
