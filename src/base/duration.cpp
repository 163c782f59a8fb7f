#include "base/duration.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "base/parse_number.hpp"

namespace trilobite {
namespace {

struct Unit {
  std::string_view name;
  int64_t nanoseconds;
};

// Largest first, so that to_string finds the shortest exact form.
constexpr std::array kUnits{Unit{"d", 86'400'000'000'000},
                            Unit{"h", 3'600'000'000'000},
                            Unit{"m", 60'000'000'000},
                            Unit{"s", 1'000'000'000},
                            Unit{"ms", 1'000'000},
                            Unit{"us", 1'000},
                            Unit{"ns", 1}};
constexpr double kHundredYearsNs = 100.0 * 365.25 * 86'400e9;

int64_t unit_nanoseconds(std::string_view name) {
  if (name.empty()) return 1'000'000'000;
  if (name == "µs") return 1'000;
  if (name == "min") return 60'000'000'000;
  for (const auto& unit : kUnits) {
    if (unit.name == name) return unit.nanoseconds;
  }
  return 0;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto whole = trimmed(text);
  const auto number_end = whole.find_first_not_of("0123456789.+-");
  const auto digits = whole.substr(0, number_end);
  const auto unit_text =
      number_end == std::string_view::npos ? "" : trimmed(whole.substr(number_end));
  const auto unit = unit_nanoseconds(unit_text);
  const auto number = parse_double(trimmed(digits));
  if (unit == 0 || !number) {
    return fail(
        fmt::format("'{}' is not a duration; write a number and a unit (ns, us, ms, s, m, h, d), "
                    "such as 30s or 100ms",
                    text));
  }
  const double nanoseconds = *number * static_cast<double>(unit);
  if (!(nanoseconds >= 0) || nanoseconds > kHundredYearsNs) {
    return fail(fmt::format("the duration '{}' must be between 0 and 100 years", text));
  }
  return std::chrono::nanoseconds(std::llround(nanoseconds));
}

std::string to_string(std::chrono::nanoseconds duration) {
  if (duration.count() == 0) return "0s";
  for (const auto& unit : kUnits) {
    if (duration.count() % unit.nanoseconds == 0) {
      return fmt::format("{}{}", duration.count() / unit.nanoseconds, unit.name);
    }
  }
  return fmt::format("{}ns", duration.count());
}

std::string human_time(double nanoseconds) {
  if (!std::isfinite(nanoseconds)) return "-";
  const double size = std::fabs(nanoseconds);
  if (size < 999.5) return fmt::format("{:.3g} ns", nanoseconds);
  if (size < 999.5e3) return fmt::format("{:.3g} us", nanoseconds / 1e3);
  if (size < 999.5e6) return fmt::format("{:.3g} ms", nanoseconds / 1e6);
  if (size < 120e9) return fmt::format("{:.3g} s", nanoseconds / 1e9);
  return fmt::format("{:.1f} min", nanoseconds / 60e9);
}

}  // namespace trilobite
