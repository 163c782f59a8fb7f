#pragma once
// Figures that describe one sample: centre, spread, percentiles. All are exact functions of the
// values; intervals around them are in bootstrap.hpp and median_interval.hpp.

#include <span>

#include "stats/sample.hpp"

namespace trilobite::stats {

/// 1 / Phi^-1(3/4): makes the MAD estimate the standard deviation of normal data
/// (Rousseeuw & Croux 1993).
inline constexpr double kMadToSigma = 1.4826022185056018;

/// The middle value, or the midpoint of the two middle values.
double median(const Sample& sample);

/// The arithmetic mean.
double mean(const Sample& sample);

/// The standard deviation with n - 1 in the denominator; 0 for a single value.
double sd(const Sample& sample);

/// The median of the distances from the median, unscaled.
double mad(const Sample& sample);

/// The MAD as an estimate of the standard deviation: mad() * kMadToSigma.
double scaled_mad(const Sample& sample);

/// The value below which `percent` per cent of the sample lies, linear between neighbours (type 7
/// of Hyndman & Fan, numpy's default). `percent` must lie in [0, 100].
double percentile(const Sample& sample, double percent);

/// The same figures of values that are already sorted, without the guarantees of a Sample: the
/// bootstrap calls them thousands of times. `sorted` must be ascending and not empty.
double median_of_sorted(std::span<const double> sorted);
double mean_of_sorted(std::span<const double> sorted);
double percentile_of_sorted(std::span<const double> sorted, double percent);

}  // namespace trilobite::stats
