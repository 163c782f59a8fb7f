#include "base/parse_number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

namespace trilobite {
namespace {

template <typename T>
Result<T> parse_whole(std::string_view text, const char* what) {
  const auto unsigned_text = text.starts_with('+') ? text.substr(1) : text;
  T value{};
  const char* const begin = unsigned_text.data();
  const char* const end = begin + unsigned_text.size();
  const auto [stop, problem] = std::from_chars(begin, end, value);
  if (problem == std::errc::result_out_of_range)
    return fail(fmt::format("'{}' is too large for {}", text, what));
  if (problem != std::errc() || stop != end || unsigned_text.starts_with('+')) {
    return fail(fmt::format("'{}' is not {}", text, what));
  }
  return value;
}

}  // namespace

Result<double> parse_double(std::string_view text) {
  auto value = parse_whole<double>(text, "a number");
  if (value && !std::isfinite(*value))
    return fail(fmt::format("'{}' is not a finite number", text));
  return value;
}

Result<int64_t> parse_int(std::string_view text) {
  return parse_whole<int64_t>(text, "a whole number");
}

}  // namespace trilobite
