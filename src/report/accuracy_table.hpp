#pragma once
// Accuracy versus speed: number formats side by side, what each costs in accuracy and memory, and
// how fast each operation on it is.

#include "record/record.hpp"
#include "report/table.hpp"

namespace trilobite {

/// One heading per suite and shape that has at least two types with the figure `snr_db`, under it a
/// row per type, most accurate first. No rows when there is no such suite.
Table accuracy_table(const RunRecord& record);

}  // namespace trilobite
