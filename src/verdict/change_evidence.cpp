#include "verdict/change_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/describe.hpp"
#include "stats/mann_whitney.hpp"

namespace trilobite::verdict {
namespace {

constexpr size_t kNear = 20;
constexpr size_t kMiddle = 60;
constexpr size_t kFar = 400;
constexpr double kSmallStep = 1e-3;  // 0.1 %: smaller steps weigh the same
constexpr double kSmallShare = 1e-4;
// The series of the fit have 251 to 3,418 points; nothing is known about the weight beyond.
constexpr size_t kShortHistory = 250;
constexpr size_t kLongHistory = 3500;

double median_of(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return stats::median_of_sorted(copy);
}

struct Sides {
  std::span<const double> before;
  std::span<const double> after;
};

Sides window(std::span<const double> values, const Candidate& candidate, size_t reach) {
  const size_t before = std::min(reach, candidate.at - candidate.begin);
  const size_t after = std::min(reach, candidate.end - candidate.at);
  return {values.subspan(candidate.at - before, before), values.subspan(candidate.at, after)};
}

double step_between(const Sides& sides) {
  return std::abs(median_of(sides.after) - median_of(sides.before));
}

double rank_score(const Sides& sides) { return stats::mann_whitney_z(sides.before, sides.after); }

}  // namespace

// Order of EvidencePart.
const Evidence kFittedWeights{0.885, 0.792, 0.665, 0.250, 0.051, -0.556, 0.555, -0.613};

double range_of(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return stats::percentile_of_sorted(copy, 98) - stats::percentile_of_sorted(copy, 2);
}

Evidence evidence_of(std::span<const double> values, const Candidate& candidate, double range) {
  const double whole = step_between(window(values, candidate, values.size()));
  const auto near = window(values, candidate, kNear);
  Evidence evidence{};
  evidence[constant] = 1;
  evidence[near_step] = std::log(step_between(near) + kSmallStep);
  evidence[near_rank] = rank_score(near);
  evidence[middle_rank] = rank_score(window(values, candidate, kMiddle));
  evidence[far_rank] = rank_score(window(values, candidate, kFar));
  evidence[whole_step] = std::log(whole + kSmallStep);
  evidence[share_of_range] = std::log((whole + kSmallShare) / (range + kSmallShare));
  evidence[history] =
      std::log(static_cast<double>(std::clamp(values.size(), kShortHistory, kLongHistory)));
  return evidence;
}

double strongest_rank(const Evidence& evidence) {
  return std::max({evidence[near_rank], evidence[middle_rank], evidence[far_rank]});
}

double weighed(const Evidence& evidence, const Evidence& weights) {
  return std::inner_product(evidence.begin(), evidence.end(), weights.begin(), 0.0);
}

}  // namespace trilobite::verdict
