#pragma once
// A test of "these differences are symmetric about 0" that may be looked at after every value and
// stopped at any time. Under that hypothesis the sign of each difference is a fair coin whatever
// its size, so betting on the sign is a fair game: the capital exceeds 1/alpha with a probability
// of at most alpha however often one looks (Ville 1939). Nothing is assumed about the shape of the
// distribution, its tails, or whether its width stays the same; outliers cost one lost bet.
//
// The stake grows with the size of the difference up to the median size so far, which is nearly as
// sharp as a t-test on normal data. The capital is averaged over many shares of it that may be
// staked, on either side. The set of shifts that it does not speak against is a confidence
// sequence.

#include <span>

#include "stats/interval.hpp"

namespace trilobite::stats {

/// Evidence that the differences are not symmetric about `centre`; 1 without values. Time grows
/// with the square of their number.
double e_value(std::span<const double> values, double centre = 0);

/// Holds the centre of symmetry at all times together with probability 1 - alpha. Unbounded
/// (infinite ends) while there are too few values. `alpha` lies in (0, 1).
Interval confidence_sequence(std::span<const double> values, double alpha);

}  // namespace trilobite::stats
