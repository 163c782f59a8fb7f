#pragma once
// The Mann-Whitney U test: do values of one sample tend to be larger than those of the other?

#include <span>

#include "stats/sample.hpp"

namespace trilobite::stats {

struct MannWhitney {
  double u = 0;        ///< pairs in which the first sample's value is larger, ties counting half
  double p_value = 1;  ///< two-sided
  bool exact = false;  ///< from the exact distribution of U, else from its normal approximation
};

/// Two-sided Mann-Whitney U test. Exact when a sample has at most 8 values, the other at most
/// 10,000 and no value occurs twice; else normal with tie and continuity correction. This is the
/// choice of scipy's mannwhitneyu(method='auto'), which has no upper limit and takes minutes there.
/// Samples that are all one value give p = 1.
MannWhitney mann_whitney(const Sample& first, const Sample& second);

/// The statistic of the normal approximation alone, without sign: how many standard deviations U is
/// from its mean, 0 at least. Both sides hold finite values, at least one each, in any order.
double mann_whitney_z(std::span<const double> first, std::span<const double> second);

}  // namespace trilobite::stats
