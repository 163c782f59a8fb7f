#include "stats/distributions.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>

namespace trilobite::stats {
namespace {

// Promotion to long double would make results depend on what long double is on the platform.
// Errors cannot happen inside the stated preconditions, so nothing may throw.
using Policy = boost::math::policies::policy<
    boost::math::policies::promote_double<false>,
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;
using Normal = boost::math::normal_distribution<double, Policy>;
using StudentT = boost::math::students_t_distribution<double, Policy>;
using Binomial = boost::math::binomial_distribution<double, Policy>;

}  // namespace

double normal_cdf(double z) { return boost::math::cdf(Normal(), z); }

double normal_survival(double z) { return boost::math::cdf(boost::math::complement(Normal(), z)); }

double normal_quantile(double probability) { return boost::math::quantile(Normal(), probability); }

double student_t_two_sided(double t, double dof) {
  return 2 * boost::math::cdf(boost::math::complement(StudentT(dof), std::abs(t)));
}

double student_t_quantile(double dof, double probability) {
  return boost::math::quantile(StudentT(dof), probability);
}

double fair_coin_cdf(size_t tosses, size_t successes) {
  return boost::math::cdf(Binomial(static_cast<double>(tosses), 0.5),
                          static_cast<double>(successes));
}

double digamma(double x) { return boost::math::digamma(x); }
double trigamma(double x) { return boost::math::trigamma(x); }
double polygamma2(double x) { return boost::math::polygamma(2, x); }

Interval share_interval(size_t successes, size_t trials, double confidence) {
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(successes);
  const double tail = (1 - confidence) / 2;
  return {Binomial::find_lower_bound_on_p(n, k, tail), Binomial::find_upper_bound_on_p(n, k, tail)};
}

}  // namespace trilobite::stats
