#pragma once
// The lines of Rust's libtest and of Criterion's `--output-format bencher`, which many services
// read:
//     test NAME ... bench:       1,234 ns/iter (+/- 56)
// The format has no room for intervals, throughput or warnings; use JSON where you can.

#include <string>

#include "record/record.hpp"

namespace trilobite {

/// One line per benchmark: its median and standard deviation, as Criterion prints them. Whole
/// nanoseconds from 100 ns on, which every parser reads; below that two decimals, as newer versions
/// of libtest print: rounding would cost up to half the value and turn 0.4 ns into 0. Parsers that
/// know whole numbers only skip those lines. Blanks and control characters in names become '_'.
/// What was not measured is `ignored` or `FAILED`, libtest's words, which parsers skip.
std::string to_bencher(const RunRecord& record);

}  // namespace trilobite
