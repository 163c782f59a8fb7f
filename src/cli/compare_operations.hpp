#pragma once
// The operations that `trilobite compare` knows by name, and the benchmarks it makes of a
// configuration.

#include <set>
#include <string>
#include <vector>

#include "trilobite/bench.hpp"

namespace trilobite::cli {

struct CompareConfig;

/// Every operation of the devices, "multiply" and "gelu" as other names, and the low-bit ones.
std::set<std::string> compare_operation_names();

/// One definition per operation, with a case per data type, size and device.
std::vector<BenchmarkDefinition> compare_definitions(const CompareConfig& config);

}  // namespace trilobite::cli
