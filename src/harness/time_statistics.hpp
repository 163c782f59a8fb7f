#pragma once
// What the samples of a benchmark say: its statistics and its rates.

#include <vector>

#include "record/record.hpp"

namespace trilobite {

/// Of at least one sample, all positive and finite. The seed is that of the bootstrap.
TimeStatistics statistics_of(const std::vector<double>& samples_ns, uint64_t seed);

Throughput throughput_of(const WorkDone& work, double median_ns);

}  // namespace trilobite
