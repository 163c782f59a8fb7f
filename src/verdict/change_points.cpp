#include "verdict/change_points.hpp"

#include <algorithm>
#include <cmath>

#include "stats/describe.hpp"
#include "stats/distributions.hpp"
#include "stats/hodges_lehmann.hpp"
#include "stats/mann_whitney.hpp"
#include "verdict/segmentation.hpp"

namespace trilobite::verdict {
namespace {

constexpr size_t kStepWindow = 60;  // points on each side that the size of a step is taken from

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return stats::median_of_sorted(values);
}

std::vector<double> around(std::span<const double> values, size_t at, size_t reach) {
  const size_t begin = at > reach ? at - reach : 0;
  const size_t end = std::min(values.size(), at + reach + 1);
  return {values.begin() + static_cast<ptrdiff_t>(begin),
          values.begin() + static_cast<ptrdiff_t>(end)};
}

/// Pulls each value to within some local spreads of the running median. A quarter of the typical
/// spread is the least, so that a quiet stretch does not lose its small ripples.
std::vector<double> without_outliers(std::span<const double> values,
                                     const ChangePointSettings& settings) {
  const size_t spread_reach = std::max<size_t>(30, 3 * settings.outlier_reach);
  std::vector<double> centre(values.size());
  std::vector<double> distance(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    centre[i] = median_of(around(values, i, settings.outlier_reach));
    distance[i] = std::abs(values[i] - centre[i]);
  }
  const double least = 0.25 * stats::kMadToSigma * median_of(distance);
  std::vector<double> clipped(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double spread = stats::kMadToSigma * median_of(around(distance, i, spread_reach));
    const double reach = settings.outlier_spreads * std::max(spread, least);
    clipped[i] = std::clamp(values[i], centre[i] - reach, centre[i] + reach);
  }
  return clipped;
}

/// The noise from one point to the next, which steps hardly touch. Series of few different values
/// have a median difference of 0; their mean square then says more.
double noise_of(std::span<const double> values) {
  std::vector<double> differences;
  double squares = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    differences.push_back(std::abs(values[i] - values[i - 1]));
    squares += differences.back() * differences.back();
  }
  const double mean_square = squares / static_cast<double>(differences.size());
  return std::max(stats::kMadToSigma * median_of(differences), 0.5 * std::sqrt(mean_square)) /
         std::sqrt(2.0);
}

class Judge {
 public:
  Judge(const PreparedSeries& series, const ChangePointSettings& settings)
      : values_(series.values),
        clipped_(series.clipped),
        settings_(settings),
        range_(range_of(series.clipped)) {}

  void judge(std::vector<JudgedPoint>& points, size_t i) const {
    const size_t begin = i == 0 ? 0 : points[i - 1].index;
    const size_t end = i + 1 < points.size() ? points[i + 1].index : clipped_.size();
    auto& point = points[i];
    point.evidence = evidence_of(clipped_, {begin, point.index, end}, range_);
    // Where values come in two modes, pulling back the rarer one of a neighbourhood makes steps
    // that the values do not have.
    const bool significant = strongest_rank(point.evidence) >= settings_.least_rank &&
                             strongest_rank(evidence_of(values_, {begin, point.index, end},
                                                        range_)) >= settings_.least_rank_of_values;
    point.weight = significant ? weighed(point.evidence, settings_.weights)
                               : -std::numeric_limits<double>::infinity();
  }

  void drop_the_weak(std::vector<JudgedPoint>& points) const {
    while (!points.empty()) {
      const auto weakest = std::ranges::min_element(points, {}, &JudgedPoint::weight);
      if (weakest->weight >= settings_.least_weight) return;
      const auto at = static_cast<size_t>(weakest - points.begin());
      points.erase(weakest);
      if (at > 0) judge(points, at - 1);
      if (at < points.size()) judge(points, at);
    }
  }

 private:
  std::span<const double> values_;
  std::span<const double> clipped_;
  const ChangePointSettings& settings_;
  double range_;
};

/// Ratio minus 1, or the difference, of a step on the scale of the judgement.
double relative(const PreparedSeries& series, double step) {
  return series.logarithmic ? std::expm1(step) : step;
}

ChangePoint described(const PreparedSeries& series, const JudgedPoint& point,
                      const Candidate& place, double confidence) {
  const auto in_units = [&](double value) {
    return series.logarithmic ? std::exp(value) : value * series.scale;
  };
  const std::span<const double> values(series.values);
  const auto before = values.subspan(place.begin, place.at - place.begin);
  const auto after = values.subspan(place.at, place.end - place.at);
  const auto near_before = before.last(std::min(before.size(), kStepWindow));
  const auto near_after = after.first(std::min(after.size(), kStepWindow));
  const auto shift = stats::hodges_lehmann(near_before, near_after, confidence);
  const double z = stats::mann_whitney_z(near_before, near_after);
  return {.index = point.index,
          .before = in_units(median_of({before.begin(), before.end()})),
          .after = in_units(median_of({after.begin(), after.end()})),
          .change = relative(series, shift.value),
          .interval = {relative(series, shift.interval.low), relative(series, shift.interval.high)},
          .p_value = std::min(1.0, 2 * stats::normal_survival(z)),
          .support = 1 / (1 + std::exp(-point.weight))};
}

}  // namespace

PreparedSeries prepare_series(std::span<const double> values, const ChangePointSettings& settings) {
  PreparedSeries series;
  series.values.assign(values.begin(), values.end());
  series.logarithmic = std::ranges::all_of(values, [](double value) { return value > 0; });
  if (series.logarithmic) {
    for (double& value : series.values) value = std::log(value);
  } else if (!values.empty()) {
    std::vector<double> sizes(values.begin(), values.end());
    for (double& size : sizes) size = std::abs(size);
    const double typical = median_of(sizes);
    // A typical size of (nearly) nothing must not make the shares infinite.
    series.scale = std::max({typical, 1e-9 * std::ranges::max(sizes), 1e-300});
    for (double& value : series.values) value /= series.scale;
  }
  series.clipped = without_outliers(series.values, settings);
  return series;
}

std::vector<JudgedPoint> judged_points(const PreparedSeries& series,
                                       const ChangePointSettings& settings) {
  const auto count = static_cast<double>(series.clipped.size());
  const double noise = noise_of(series.clipped);
  // The constant keeps ripples of rounding from becoming steps of an otherwise constant series.
  const double penalty = settings.penalty * noise * noise * std::log(count) + 1e-12;
  std::vector<JudgedPoint> points;
  for (const size_t index :
       best_segmentation(series.clipped, {penalty, settings.shortest_segment})) {
    points.push_back({.index = index});
  }
  const Judge judge(series, settings);
  for (size_t i = 0; i < points.size(); ++i) judge.judge(points, i);
  judge.drop_the_weak(points);
  return points;
}

std::vector<ChangePoint> find_change_points(std::span<const double> values,
                                            const ChangePointSettings& settings) {
  if (values.size() < std::max<size_t>(2, settings.smallest_series)) return {};
  const auto series = prepare_series(values, settings);
  auto points = judged_points(series, settings);
  std::vector<ChangePoint> found;
  for (size_t i = 0; i < points.size();) {
    const size_t begin = i == 0 ? 0 : points[i - 1].index;
    const size_t end = i + 1 < points.size() ? points[i + 1].index : values.size();
    auto change = described(series, points[i], {begin, points[i].index, end}, settings.confidence);
    // Engineers may mark what could as well be no step at all; we do not claim it.
    if (change.interval.contains(0)) {
      points.erase(points.begin() + static_cast<ptrdiff_t>(i));
      continue;
    }
    found.push_back(std::move(change));
    ++i;
  }
  return found;
}

}  // namespace trilobite::verdict
