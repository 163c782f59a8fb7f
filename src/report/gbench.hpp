#pragma once
// The JSON of Google Benchmark (`--benchmark_format=json`), for tools/compare.py and everything
// else that reads it. What we have no number for is said in docs/formats/record.md.

#include <string>

#include "record/record.hpp"

namespace trilobite {

/// One entry per sample (run_type "iteration") and three aggregates (mean, median, stddev) per
/// benchmark that is ok; one entry with error_occurred for every other.
std::string to_gbench(const RunRecord& record);

}  // namespace trilobite
