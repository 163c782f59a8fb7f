#pragma once
// CSV in, as RFC 4180 has it and as people have it: quotes, line breaks in quotes, CRLF or LF, a
// byte order mark, no line break at the end.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace trilobite {

struct CsvRow {
  size_t line = 0;  // where it begins, from 1
  std::vector<std::string> fields;
};

/// All rows; empty lines are left out. Errors: a quote that is never closed, text after a closing
/// quote.
Result<std::vector<CsvRow>> parse_csv(std::string_view text);

}  // namespace trilobite
