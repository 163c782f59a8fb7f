#pragma once
// How much speaks for one candidate change point: a few figures about the points around it, and the
// weights that turn them into the probability that an engineer who looks at the chart marks it.

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace trilobite::verdict {

/// What is weighed. Steps are in the (logarithmic) units of the series, windows reach at most to
/// the neighbouring change points.
enum EvidencePart : size_t {
  constant,        ///< 1
  near_step,       ///< log of the step between the medians of up to 20 points on each side
  near_rank,       ///< |z| of Mann-Whitney over up to 20 points on each side
  middle_rank,     ///< the same over 60: steps of about 1.5 sigma that last
  far_rank,        ///< the same over 400
  whole_step,      ///< log of the step between the medians of the two whole stretches
  share_of_range,  ///< log of whole_step over the range of the series: what a chart's axis shows
  history,         ///< log of the number of points, within what the weights were fitted on
  kEvidenceParts
};

using Evidence = std::array<double, kEvidenceParts>;

/// A candidate between its neighbours: points [begin, at) against [at, end).
struct Candidate {
  size_t begin = 0;
  size_t at = 0;
  size_t end = 0;
};

/// The middle 96 % of the values.
double range_of(std::span<const double> values);

/// `range` is range_of(values).
Evidence evidence_of(std::span<const double> values, const Candidate& candidate, double range);

/// The largest |z| of the three scales; 2.58 is p = 0.01.
double strongest_rank(const Evidence& evidence);

double weighed(const Evidence& evidence, const Evidence& weights);

/// Fitted by tools/fit_change_points.py to the marks of engineers; docs/accuracy.md has the
/// held-out scores.
extern const Evidence kFittedWeights;

}  // namespace trilobite::verdict
