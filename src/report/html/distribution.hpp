#pragma once
// The samples of one benchmark in a small picture: every sample, how dense they lie, the median and
// its interval. A page has thousands of them, so it is written in few bytes.

#include <string>

#include "record/record.hpp"

namespace trilobite::html {

/// Nothing when there are no samples.
std::string distribution_svg(const BenchmarkResult& result);

}  // namespace trilobite::html
