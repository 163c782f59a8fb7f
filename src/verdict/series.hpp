#pragma once
// A series over time: what trend looks at. From a plain CSV file, or from the history of a store.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace trilobite::verdict {

/// One measured point; gaps of the source are not points.
struct SeriesPoint {
  size_t index = 0;    // of the source: its own, or rows counted from 0
  double value = 0;    // finite
  std::string time;    // as written in the source; empty when there is none
  std::string commit;  // the same
};

struct Series {
  std::string name;
  std::string unit;  // empty when unknown
  std::vector<SeriesPoint> points;
  size_t gaps = 0;  // rows without a value

  std::vector<double> values() const;
};

/// Columns by name: `value` is needed; `time` (or `date`, `timestamp`) and `commit` (or `revision`)
/// are shown with the changes, `index` (whole numbers that grow) numbers the rows; others are
/// ignored. A value that is empty, `nan`, `NA` or `null` is
/// a gap. Errors: no header, no rows, a row of another length, a value that is no finite number,
/// rows that are not in the order of their index.
Result<Series> series_from_csv(std::string_view text, std::string name);

}  // namespace trilobite::verdict
