#include "report/csv_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/display_text.hpp"

namespace trilobite {

std::string csv_field(std::string_view text) {
  const auto valid = valid_utf8(text);
  if (valid.find_first_of(",\"\r\n") == std::string::npos) return valid;
  std::string quoted = "\"";
  for (const char c : valid) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

std::string csv_rate(double value) { return value == 0 ? std::string() : csv_number(value); }

std::string csv_line(const std::vector<std::string>& fields) {
  return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace trilobite
