#pragma once
// A record as JUnit XML, which every CI shows: one test case per benchmark.

#include <string>

#include "record/record.hpp"

namespace trilobite {

/// A test suite per suite of benchmarks. `time` is the median of one iteration in seconds; failed
/// is a failure, timed out an error, skipped is skipped.
std::string to_junit(const RunRecord& record);

}  // namespace trilobite
