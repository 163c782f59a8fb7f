#pragma once
// The record as CSV: one row per benchmark, or one per raw sample. Columns are listed in
// docs/formats/record.md.

#include <string>

#include "record/record.hpp"

namespace trilobite {

/// A header and one row per benchmark, whatever its status. What does not exist is an empty field.
std::string to_csv(const RunRecord& record);

/// A header and one row per sample: id, round, index within the benchmark (both from 0), ns.
std::string to_samples_csv(const RunRecord& record);

}  // namespace trilobite
