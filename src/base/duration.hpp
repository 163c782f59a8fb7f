#pragma once
// Durations as people write them in flags and configuration files: "30s", "100ms", "1.5h", "250us".

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace trilobite {

/// Units ns, us (or µs), ms, s, m (or min), h, d. A bare number is seconds, as in Criterion's
/// flags. Negative, empty, infinite or too large (above 100 years) values are errors.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// The shortest exact form that parse_duration reads back: "100ms", "30s", "1500us".
std::string to_string(std::chrono::nanoseconds duration);

/// For people: three significant digits and a fitting unit, e.g. "1.23 ms".
std::string human_time(double nanoseconds);

}  // namespace trilobite
