#pragma once
// The building blocks of our CSV files: quoting as RFC 4180 says, numbers that read back exactly.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trilobite {

/// The field, quoted when it holds a comma, a quote or a line break; invalid UTF-8 is replaced, as
/// in the JSON form of the record. A field that begins with '=' or '+' is left alone: a spreadsheet
/// may take it for a formula, but changing it would change the name.
std::string csv_field(std::string_view text);
/// The shortest decimal form that reads back as the same double; empty for NaN and infinity.
std::string csv_number(double value);
/// As csv_number; empty for 0, which in the record means "does not apply".
std::string csv_rate(double value);

/// Fields joined by commas, ending with LF (not RFC 4180's CRLF: line tools such as awk would take
/// the CR for data, and CSV readers accept both). Fields must be quoted already.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace trilobite
