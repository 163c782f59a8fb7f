#pragma once
// What a person reads after `trilobite bench`: one line per benchmark, what was not measured and
// why, and the doubts about the numbers.

#include <string>
#include <vector>

#include "record/record.hpp"

namespace trilobite {

struct ConsoleOptions {
  bool color = false;
  unsigned width = 100;  // of the terminal in columns; 0: no limit
};

/// The table, a legend, counts, failures and warnings. No line is wider than the terminal.
std::string to_console(const RunRecord& record, ConsoleOptions options);

/// The warnings, one paragraph for each code: those about single benchmarks are counted and the
/// first is quoted. Empty when there are none.
std::string warnings_to_console(const std::vector<Warning>& warnings, ConsoleOptions options);

}  // namespace trilobite
