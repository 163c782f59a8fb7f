#pragma once
// Figures of a result as a person reads them: three digits and a fitting unit. Times are in
// base/duration.hpp. A figure that does not exist is "-" (or nothing, where said).

#include <string>

#include "record/record.hpp"

namespace trilobite {

/// "1 case", "2 cases".
std::string counted(size_t count, std::string_view noun);

/// "1.23 G" + unit, e.g. "12.3 GFLOP/s"; decimal prefixes.
std::string human_rate(double per_second, std::string_view unit);
/// "64 KiB", "1.5 MiB"; binary prefixes.
std::string human_bytes(double bytes);
/// "0.8 %", "12 %", "<0.1 %".
std::string human_percent(double share);

/// "+3.2 %", "-12 %": a relative change.
std::string human_change(double change);

/// "1.30x", "12.3x", "3059x".
std::string human_ratio(double ratio);
/// "1.20-1.40": an interval of ratios.
std::string human_ratios(const Interval& interval);

/// Whether the interval of a median of `samples` values can hold it with 95 %; below six it cannot,
/// and whoever shows or uses such an interval must say so.
bool supports_95_percent(size_t samples);

/// "ok", "failed", ...; "no samples" when a result is ok but nothing is known about its time.
std::string_view outcome_word(const BenchmarkResult& result);

struct Rate {
  double per_second = 0;  // 0: the benchmark did not say what work it does
  std::string unit;
};
/// The throughput that says most about this work: tokens where there are tokens, else what the
/// limit of this benchmark counts (bytes or operations), else flops, bytes, items, elements.
Rate fitting_rate(const BenchmarkResult& result);
/// The same for people; empty when there is none.
std::string fitting_throughput(const BenchmarkResult& result);

/// "62 % L2 read" from "L2 read, 2 threads"; empty without a limit.
std::string short_limit(const BenchmarkResult& result);

}  // namespace trilobite
