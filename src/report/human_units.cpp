#include "report/human_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/display_text.hpp"
#include "stats/median_interval.hpp"

namespace trilobite {
namespace {

/// Three significant digits or all before the point, without an exponent; value >= 0.
std::string three_digits(double value) {
  if (value >= 99.95 || value == 0) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string operations_unit(const WorkDone& work) {
  return work.compute.starts_with('i') ? "OP/s" : "FLOP/s";
}

}  // namespace

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string human_rate(double per_second, std::string_view unit) {
  if (!std::isfinite(per_second) || per_second < 0) return "-";
  constexpr std::array<const char*, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  while (per_second >= 999.5 && prefix + 1 < kPrefixes.size()) {
    per_second /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}{}", three_digits(per_second), kPrefixes[prefix], unit);
}

std::string human_bytes(double bytes) {
  if (!std::isfinite(bytes) || bytes < 0) return "-";
  constexpr std::array<const char*, 7> kPrefixes = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t prefix = 0;
  while (bytes >= 1023.5 && prefix + 1 < kPrefixes.size()) {
    bytes /= 1024;
    ++prefix;
  }
  if (bytes == std::floor(bytes)) return fmt::format("{:.0f} {}", bytes, kPrefixes[prefix]);
  return fmt::format("{:.{}f} {}", bytes, bytes < 99.95 ? 1 : 0, kPrefixes[prefix]);
}

std::string human_percent(double share) {
  if (!std::isfinite(share)) return "-";
  const double percent = 100 * share;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  return fmt::format("{:.{}f} %", percent, std::fabs(percent) < 9.95 ? 1 : 0);
}

std::string human_change(double change) {
  if (!std::isfinite(change)) return "-";
  const double percent = 100 * change;
  const double size = std::abs(percent);
  return fmt::format("{:+.{}f} %", percent, size < 1 ? 2 : size < 10 ? 1 : 0);
}

std::string human_ratio(double ratio) {
  if (!std::isfinite(ratio) || ratio < 0) return "-";
  return three_digits(ratio) + "x";
}

std::string human_ratios(const Interval& interval) {
  const auto digits = [](double ratio) {
    return std::isfinite(ratio) && ratio >= 0 ? three_digits(ratio) : std::string("-");
  };
  return digits(interval.low) + "-" + digits(interval.high);
}

std::string_view outcome_word(const BenchmarkResult& result) {
  if (result.status == Status::ok && !result.statistics) return "no samples";
  return name_of(result.status);
}

bool supports_95_percent(size_t samples) {
  return samples > 0 && stats::largest_median_confidence(samples) >= 0.95;
}

Rate fitting_rate(const BenchmarkResult& result) {
  const auto& rate = result.throughput;
  if (rate.tokens > 0) return {rate.tokens, "tokens/s"};
  if (result.limit && result.limit->unit == "B/s" && rate.bytes > 0) return {rate.bytes, "B/s"};
  if (rate.flops > 0) return {rate.flops, operations_unit(result.work)};
  if (rate.bytes > 0) return {rate.bytes, "B/s"};
  if (rate.items > 0) return {rate.items, "items/s"};
  if (rate.elements > 0) return {rate.elements, "elem/s"};
  return {};
}

std::string fitting_throughput(const BenchmarkResult& result) {
  const auto rate = fitting_rate(result);
  return rate.per_second > 0 ? human_rate(rate.per_second, rate.unit) : "";
}

std::string short_limit(const BenchmarkResult& result) {
  if (!result.limit) return "";
  auto name = printable(result.limit->limit);
  name.resize(std::min(name.find(','), name.size()));
  const auto replace = [&](std::string_view from, std::string_view to) {
    if (const auto at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
  };
  replace("arithmetic", "peak");
  replace("memory", "mem");
  return fmt::format("{} {}", human_percent(result.limit->share), name);
}

}  // namespace trilobite
