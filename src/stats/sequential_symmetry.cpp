#include "stats/sequential_symmetry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace trilobite::stats {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// The shares of the capital that are staked: small ones win slowly, and evidence that grows so
// slowly takes more values than anybody waits for.
constexpr double kLeastShare = 0.25;
constexpr size_t kShares = 16;
constexpr int kBisections = 50;  // the end of an interval to 1e-12 of the range

/// The median size so far, kept by insertion.
class RunningMedian {
 public:
  double add(double value) {
    sorted_.insert(std::ranges::upper_bound(sorted_, value), value);
    return sorted_[sorted_.size() / 2];
  }

 private:
  std::vector<double> sorted_;
};

/// Between -1 and 1: the outcome of each bet, by the part of a full stake that is made.
std::vector<double> outcomes_of(std::span<const double> values, double centre) {
  std::vector<double> outcomes;
  outcomes.reserve(values.size());
  RunningMedian usual;
  for (const double value : values) {
    const double difference = value - centre;
    const double typical = usual.add(std::abs(difference));
    // A stake may know the size of the difference, but not its sign.
    outcomes.push_back(typical > 0 ? std::clamp(difference / typical, -1.0, 1.0)
                                   : (difference > 0) - (difference < 0));
  }
  return outcomes;
}

/// Where the e-value reaches 1/alpha on the way from `inside` to `outside`, where it has.
double crossing(std::span<const double> values, double alpha, double inside, double outside) {
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (inside + outside) / 2;
    (e_value(values, middle) < 1 / alpha ? inside : outside) = middle;
  }
  return outside;
}

}  // namespace

double e_value(std::span<const double> values, double centre) {
  const auto outcomes = outcomes_of(values, centre);
  double capital = 0;
  for (size_t i = 0; i < kShares; ++i) {
    const double share = kLeastShare + (1 - kLeastShare) * (static_cast<double>(i) + 0.5) / kShares;
    double rising = 1;  // what becomes of the capital staked on either side
    double falling = 1;
    for (const double outcome : outcomes) {
      rising *= 1 + share * outcome;
      falling *= 1 - share * outcome;
    }
    capital += (rising + falling) / (2 * kShares);
  }
  return capital;
}

Interval confidence_sequence(std::span<const double> values, double alpha) {
  if (values.empty()) return {-kInfinite, kInfinite};
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double inside = sorted[sorted.size() / 2];
  // So far away that all differences are of one size, and no bet is less than full.
  const double range = sorted.back() - sorted.front();
  const double reach = std::max(1000 * range, std::abs(inside) * 1e-9 + 1e-300);
  const double low = sorted.front() - reach;
  const double high = sorted.back() + reach;
  if (e_value(values, low) < 1 / alpha || e_value(values, high) < 1 / alpha)
    return {-kInfinite, kInfinite};
  return {crossing(values, alpha, inside, low), crossing(values, alpha, inside, high)};
}

}  // namespace trilobite::stats
