#pragma once
// A t-test that may be looked at after every value and stopped at any time. The e-value is the
// Bayes factor of "the mean is not 0" against "it is 0" with the standard deviation integrated out
// over its right Haar prior; such a factor exceeds 1/alpha with a probability of at most alpha
// however often one looks (Ville 1939; Perez-Ortiz et al. 2024 for the t-test). The set of means it
// does not speak against is a confidence sequence.

#include <span>

#include "stats/interval.hpp"

namespace trilobite::stats {

/// How large means are expected to be, in standard deviations of one value; any choice is valid, a
/// good one needs fewer values.
struct SequentialPrior {
  double spread = 1.5;
};

/// Evidence that the mean is not `mean`; 1 with fewer than two values, infinite when all values are
/// equal and differ from it.
double e_value(std::span<const double> values, double mean = 0, const SequentialPrior& prior = {});

/// Holds the true mean at all times together with probability 1 - alpha. Unbounded (infinite ends)
/// while there are too few values. `alpha` lies in (0, 1).
Interval confidence_sequence(std::span<const double> values, double alpha,
                             const SequentialPrior& prior = {});

}  // namespace trilobite::stats
