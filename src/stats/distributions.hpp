#pragma once
// The few distribution functions stats/ needs, in front of Boost.Math: one place that knows Boost,
// and the only one that pays for compiling its templates.

#include <cstddef>

#include "stats/interval.hpp"

namespace trilobite::stats {

/// P(Z <= z) of the standard normal distribution; z may be infinite.
double normal_cdf(double z);
/// P(Z > z), accurate in the far tail; z may be infinite.
double normal_survival(double z);
/// The z with P(Z <= z) = probability, which must lie in (0, 1).
double normal_quantile(double probability);

/// P(|T| >= |t|) of Student's t distribution with `dof` > 0 degrees of freedom.
double student_t_two_sided(double t, double dof);
/// The t with P(T <= t) = probability, which must lie in (0, 1).
double student_t_quantile(double dof, double probability);

/// P(X <= successes) where X counts heads in `tosses` tosses of a fair coin.
double fair_coin_cdf(size_t tosses, size_t successes);

/// The first, second and third derivative of the logarithm of the gamma function, for x > 0.
double digamma(double x);
double trigamma(double x);
double polygamma2(double x);

/// Clopper & Pearson (1934): the interval of a share of which `successes` of `trials` were seen.
/// `trials` is above 0 and `confidence` lies in (0, 1).
Interval share_interval(size_t successes, size_t trials, double confidence);

}  // namespace trilobite::stats
