#include "stats/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "stats/describe.hpp"
#include "stats/distributions.hpp"
#include "stats/resample.hpp"

namespace trilobite::stats {
namespace {

// Below this, resamples repeat themselves so often that the studentised mean has wild tails: with
// 5 values one resample in 625 is constant and its studentised mean infinite.
constexpr size_t kFewestForBootstrapT = 10;

void check(const BootstrapOptions& options) {
  TRILOBITE_CHECK(options.resamples >= 1);
  TRILOBITE_CHECK(options.confidence > 0 && options.confidence < 1);
}

double tail_of(const BootstrapOptions& options) { return (1 - options.confidence) / 2; }

/// The statistic of each resample, sorted.
std::vector<double> bootstrap_distribution(const Sample& sample, const Statistic& statistic,
                                           const BootstrapOptions& options) {
  Engine engine(options.seed);
  Resampler resampler(sample.sorted(), engine);
  std::vector<double> replicates(options.resamples);
  for (double& replicate : replicates) replicate = statistic(resampler.draw());
  std::ranges::sort(replicates);
  return replicates;
}

/// z0: how far the bootstrap distribution sits off the estimate, in normal deviates. Ties count
/// half, else a statistic that takes few values (a median) would look biased.
double bias_correction(std::span<const double> replicates, double estimate) {
  const auto equal = std::ranges::equal_range(replicates, estimate);
  const auto below = static_cast<double>(equal.begin() - replicates.begin());
  const auto ties = static_cast<double>(equal.size());
  const auto count = static_cast<double>(replicates.size());
  // Half a replicate away from 0 and 1, where the quantile is infinite.
  return normal_quantile(std::clamp((below + ties / 2) / count, 0.5 / count, 1 - 0.5 / count));
}

/// a: a sixth of the skewness of the leave-one-out estimates (Efron & Tibshirani 1993, eq. 14.15).
/// |a| <= 1/6 because |sum d^3| <= (sum d^2)^(3/2).
double acceleration(const Sample& sample, const Statistic& statistic) {
  const auto values = sample.sorted();
  std::vector<double> rest(values.begin() + 1, values.end());
  std::vector<double> estimates;
  estimates.reserve(values.size());
  for (size_t left_out = 0; left_out < values.size(); ++left_out) {
    if (left_out > 0) rest[left_out - 1] = values[left_out - 1];
    estimates.push_back(statistic(rest));
  }
  std::vector<double> sorted_estimates = estimates;
  std::ranges::sort(sorted_estimates);
  const double centre = mean_of_sorted(sorted_estimates);
  double squares = 0;
  double cubes = 0;
  for (const double estimate : estimates) {
    const double distance = centre - estimate;
    squares += distance * distance;
    cubes += distance * distance * distance;
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

/// The level of the bootstrap distribution that stands for the nominal `level`.
double bca_level(double level, double bias, double accel) {
  const double z = bias + normal_quantile(level);
  const double scale = 1 - accel * z;
  if (scale <= 0) return z > 0 ? 1 : 0;  // only for levels beyond 1e-9: |accel| <= 1/6
  return normal_cdf(bias + z / scale);
}

Interval student_t_interval(const Sample& sample, double tail) {
  const auto n = static_cast<double>(sample.size());
  const double half = student_t_quantile(n - 1, 1 - tail) * sd(sample) / std::sqrt(n);
  return {mean(sample) - half, mean(sample) + half};
}

/// (mean* - mean) / sd* of each resample, sorted; nothing when a resample has no spread.
std::optional<std::vector<double>> studentised_means(const Sample& sample,
                                                     const BootstrapOptions& options) {
  const auto n = static_cast<double>(sample.size());
  // In units of the standard deviation around the mean: then one pass over sums and squares loses
  // no digits, and rounding noise is of known size.
  const double centre = mean(sample);
  const double scale = sd(sample);
  std::vector<double> standardised;
  for (const double value : sample.sorted()) standardised.push_back((value - centre) / scale);

  Engine engine(options.seed);
  std::vector<double> replicates(options.resamples);
  for (double& replicate : replicates) {
    double sum = 0;
    double squares = 0;
    draw_indices(engine, standardised.size(), [&](size_t index) {
      sum += standardised[index];
      squares += standardised[index] * standardised[index];
    });
    const double variance = (squares - sum * sum / n) / (n - 1);
    if (variance < 1e-12) return std::nullopt;  // rounding noise is about n * 1e-16
    replicate = sum / n / std::sqrt(variance);
  }
  std::ranges::sort(replicates);
  return replicates;
}

}  // namespace

Interval bca_interval(const Sample& sample, const Statistic& statistic,
                      const BootstrapOptions& options) {
  check(options);
  const double estimate = statistic(sample.sorted());
  if (sample.is_constant()) return {estimate, estimate};

  const auto replicates = bootstrap_distribution(sample, statistic, options);
  const double bias = bias_correction(replicates, estimate);
  const double accel = acceleration(sample, statistic);
  const double tail = tail_of(options);
  return {percentile_of_sorted(replicates, 100 * bca_level(tail, bias, accel)),
          percentile_of_sorted(replicates, 100 * bca_level(1 - tail, bias, accel))};
}

Interval mean_interval(const Sample& sample, const BootstrapOptions& options) {
  check(options);
  if (sample.is_constant()) return {sample.min(), sample.min()};
  const double tail = tail_of(options);
  if (sample.size() < kFewestForBootstrapT) return student_t_interval(sample, tail);
  const auto replicates = studentised_means(sample, options);
  if (!replicates) return student_t_interval(sample, tail);
  // The upper tail of the studentised mean gives the lower end: mean = estimate - t * se.
  return {mean(sample) - percentile_of_sorted(*replicates, 100 * (1 - tail)) * sd(sample),
          mean(sample) - percentile_of_sorted(*replicates, 100 * tail) * sd(sample)};
}

Result<Interval> median_ratio_interval(const Sample& numerator, const Sample& denominator,
                                       const BootstrapOptions& options) {
  check(options);
  if (denominator.min() <= 0) {
    return fail(
        fmt::format("the denominator of a ratio of medians must be above zero, but its "
                    "smallest value is {}",
                    denominator.min()));
  }
  Engine engine(options.seed);
  Resampler above(numerator.sorted(), engine);
  Resampler below(denominator.sorted(), engine);
  std::vector<double> ratios(options.resamples);
  for (double& ratio : ratios) {
    const double top = median_of_sorted(above.draw());
    ratio = top / median_of_sorted(below.draw());
  }
  std::ranges::sort(ratios);
  const double tail = tail_of(options);
  return Interval{percentile_of_sorted(ratios, 100 * tail),
                  percentile_of_sorted(ratios, 100 * (1 - tail))};
}

}  // namespace trilobite::stats
