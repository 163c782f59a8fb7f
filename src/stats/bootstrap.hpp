#pragma once
// Bootstrap confidence intervals: BCa for any statistic, bootstrap-t for the mean, percentile for
// the ratio of two medians. The interval of one median needs no resampling: median_interval.hpp.
//
// The same sample, options and seed draw the same resamples on every platform; the ends then agree
// to the rounding of exp and log in the C library. Coverage of every method: docs/adr/0006.

#include <cstdint>
#include <functional>
#include <span>

#include "base/error.hpp"
#include "stats/interval.hpp"
#include "stats/sample.hpp"

namespace trilobite::stats {

struct BootstrapOptions {
  uint64_t seed = 42;
  size_t resamples = 2000;   // at least 1
  double confidence = 0.95;  // in (0, 1)
};

/// A figure of values that are sorted ascending and not empty.
using Statistic = std::function<double(std::span<const double> sorted)>;

/// Bias-corrected and accelerated interval (Efron 1987) of any statistic. A constant sample and a
/// single value give the point itself. Costs `resamples` + n evaluations of the statistic.
/// It runs narrow for means of skewed data, where mean_interval() is better.
Interval bca_interval(const Sample& sample, const Statistic& statistic,
                      const BootstrapOptions& options = {});

/// Interval of the mean by bootstrap-t (Efron 1981): resamples the studentised mean, so it follows
/// the skewness of the data and the uncertainty of the standard deviation. BCa knows only the
/// first; on lognormal data it covers less (Owen 2025, arXiv:2508.10083, and our own table).
/// With fewer than 10 values, or so many ties that a resample is constant and its studentised mean
/// infinite, it is Student's t interval. A single value gives the point itself.
Interval mean_interval(const Sample& sample, const BootstrapOptions& options = {});

/// Interval of median(numerator) / median(denominator) by the percentile bootstrap, both sides
/// resampled independently. Fails unless all values of the denominator are above zero.
Result<Interval> median_ratio_interval(const Sample& numerator, const Sample& denominator,
                                       const BootstrapOptions& options = {});

}  // namespace trilobite::stats
