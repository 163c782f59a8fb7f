#pragma once
// Many tests at once: p-values adjusted so that among the discoveries only a stated share is false.

#include <span>
#include <vector>

namespace trilobite::stats {

/// Benjamini & Hochberg (1995): rejecting where the adjusted value is at most q keeps the expected
/// share of false discoveries below q, and the chance of any when nothing changed. Same order as
/// given; values lie in [0, 1].
std::vector<double> adjusted_p_values(std::span<const double> p_values);

}  // namespace trilobite::stats
