#pragma once
// What to use, from the numbers of a comparison.

#include <vector>

#include "report/comparison.hpp"

namespace trilobite {

/// Per suite, operation and dtype: over all sizes, and per class of sizes where there are several.
/// `cpu` gives the cache sizes that separate the classes.
std::vector<Recommendation> recommend(const Comparison& comparison, const CpuInfo& cpu);

}  // namespace trilobite
