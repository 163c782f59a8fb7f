#pragma once
// Variances of many small groups, each strengthened by the others. Five runs tell the spread of one
// benchmark badly; five runs each of fifty benchmarks tell what spreads are usual on this machine.

#include <span>
#include <vector>

namespace trilobite::stats {

struct Variance {
  double value = 0;               // squared units; above 0
  double degrees_of_freedom = 0;  // above 0; may be infinite
};

/// The usual variance and how much it counts, in degrees of freedom (0: nothing is known, infinite:
/// all groups share it). Smyth (2004), fitted to the logarithms of the variances. Groups whose
/// variance is 0 say nothing; fewer than three others give no prior.
Variance usual_variance(std::span<const Variance> groups);

/// `own` drawn towards `usual`, each weighted by its degrees of freedom.
Variance moderated(const Variance& own, const Variance& usual);

}  // namespace trilobite::stats
