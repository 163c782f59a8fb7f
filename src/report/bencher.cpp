#include "report/bencher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/display_text.hpp"

namespace trilobite {
namespace {

constexpr double kWholeNanosecondsFrom = 100;

std::string name_without_blanks(const std::string& id) {
  std::string name = printable(id);
  for (char& c : name) {
    if (c == ' ') c = '_';
  }
  return name.empty() ? "_" : name;
}

/// 1234567 -> "1,234,567"; only the digits before the point are grouped.
std::string with_thousands(std::string number) {
  const auto point = std::min(number.find('.'), number.size());
  for (size_t i = point; i > 3; i -= 3) number.insert(i - 3, 1, ',');
  return number;
}

std::string number(double nanoseconds, bool whole) {
  if (!std::isfinite(nanoseconds)) nanoseconds = 0;  // only a deviation can be missing
  return with_thousands(fmt::format("{:.{}f}", nanoseconds, whole ? 0 : 2));
}

std::string outcome(const BenchmarkResult& result) {
  if (result.status == Status::skipped) return "ignored, " + printable(result.reason);
  if (result.status == Status::ok && !result.statistics) return "ignored, no samples";
  if (result.status != Status::ok || !std::isfinite(result.statistics->median)) return "FAILED";
  const bool whole = result.statistics->median >= kWholeNanosecondsFrom;
  return fmt::format("bench: {:>11} ns/iter (+/- {})", number(result.statistics->median, whole),
                     number(result.statistics->sd, whole));
}

}  // namespace

std::string to_bencher(const RunRecord& record) {
  std::string text;
  for (const auto& result : record.benchmarks) {
    text += fmt::format("test {} ... {}\n", name_without_blanks(result.id), outcome(result));
  }
  return text;
}

}  // namespace trilobite
