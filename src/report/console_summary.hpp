#pragma once
// The text around the console's table: what ran, what the columns mean, what was not measured.
// Each ends with a line break or is empty.

#include <string>
#include <string_view>

#include "record/record.hpp"
#include "report/console.hpp"
#include "report/table.hpp"

namespace trilobite {

/// `text` broken into lines that fit, in one style, ending with a line break.
std::string paragraph(std::string_view text, Style style, ConsoleOptions options);

/// Machine, build and plan in one paragraph.
std::string run_heading(const RunRecord& record, ConsoleOptions options);
bool has_quiet_times(const RunRecord& record);
/// What the columns and notes mean, in one line; empty when no benchmark has a result.
std::string legend(const RunRecord& record, ConsoleOptions options);
/// "12 ok, 3 skipped: <reason> (2), ...", then each failure with its reason.
std::string counts_and_failures(const RunRecord& record, ConsoleOptions options);

}  // namespace trilobite
