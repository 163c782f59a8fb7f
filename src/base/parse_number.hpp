#pragma once
// Numbers out of text, whole text or nothing: no locale, no leading blanks, no trailing rubbish.

#include <cstdint>
#include <string_view>

#include "base/error.hpp"

namespace trilobite {

/// A finite decimal number.
Result<double> parse_double(std::string_view text);
/// A decimal integer in the range of int64_t.
Result<int64_t> parse_int(std::string_view text);

}  // namespace trilobite
