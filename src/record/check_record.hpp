#pragma once
// Is a record consistent in itself? What the reader and `trilobite inspect` refuse to believe.

#include "base/error.hpp"
#include "record/record.hpp"

namespace trilobite {

/// Ids are unique and made of their parts, results that are `ok` have positive finite samples that
/// agree with their statistics, all others have a reason, counts add up.
Result<void> check_record(const RunRecord& record);

}  // namespace trilobite
