#include "stats/welch.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stats/describe.hpp"
#include "stats/distributions.hpp"

namespace trilobite::stats {

Result<Welch> welch(const Sample& first, const Sample& second, double confidence) {
  TRILOBITE_CHECK(confidence > 0 && confidence < 1);
  if (first.size() < 2 || second.size() < 2) {
    return fail(fmt::format("Welch's test needs two values on each side, it got {} and {}",
                            first.size(), second.size()));
  }
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  const double error_first = sd(first) / std::sqrt(n);
  const double error_second = sd(second) / std::sqrt(m);
  const double error = std::hypot(error_first, error_second);
  if (error == 0) {
    return fail("Welch's test needs some spread, but the values of both samples are all equal");
  }
  // Shares of the squared error instead of the squares themselves: these cannot underflow together.
  const double share_first = (error_first / error) * (error_first / error);
  const double share_second = (error_second / error) * (error_second / error);
  const double dof =
      1 / (share_first * share_first / (n - 1) + share_second * share_second / (m - 1));
  const double difference = mean(first) - mean(second);
  const double t = difference / error;
  const double half = student_t_quantile(dof, (1 + confidence) / 2) * error;
  return Welch{.t = t,
               .degrees_of_freedom = dof,
               .p_value = student_t_two_sided(t, dof),
               .difference = {difference - half, difference + half}};
}

}  // namespace trilobite::stats
