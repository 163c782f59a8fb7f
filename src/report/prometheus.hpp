#pragma once
// A record in the text format that Prometheus scrapes (a file for the node exporter's collector).

#include <string>

#include "record/record.hpp"

namespace trilobite {

/// Gauges in base units (seconds, bytes), one line per benchmark and metric. What does not exist
/// has no line; benchmarks that are not ok have only their status.
std::string to_prometheus(const RunRecord& record);

}  // namespace trilobite
