#include "record/check_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace trilobite {
namespace {

Result<void> check_samples(const std::vector<double>& samples,
                           const std::vector<uint64_t>& per_round) {
  for (const double sample : samples) {
    if (!std::isfinite(sample) || sample <= 0) {
      return fail(fmt::format("a sample of {} ns; times are positive and finite", sample));
    }
  }
  const auto in_rounds = std::accumulate(per_round.begin(), per_round.end(), uint64_t{0});
  if (in_rounds != samples.size()) {
    return fail(fmt::format("{} samples, but its rounds add up to {}", samples.size(), in_rounds));
  }
  return {};
}

Result<void> check_quiet(const QuietTime& quiet) {
  if (auto done = check_samples(quiet.samples_ns, quiet.samples_per_round); !done) return done;
  if (quiet.samples_ns.empty()) return fail("no sample");
  const auto [low, high] = std::ranges::minmax(quiet.samples_ns);
  if (!(quiet.best_ns >= low && quiet.best_ns <= high))
    return fail(fmt::format("its best round of {} ns is outside its samples", quiet.best_ns));
  if (!std::isfinite(quiet.witness_ns) || quiet.witness_ns <= 0)
    return fail(fmt::format("a witness of {} ns; times are positive and finite", quiet.witness_ns));
  return {};
}

/// Statistics are derived from the samples; a file where they disagree was edited or damaged.
Result<void> check_statistics(const BenchmarkResult& result) {
  const auto& statistics = *result.statistics;
  const auto [low, high] = std::ranges::minmax(result.samples_ns);
  if (statistics.min != low || statistics.max != high) {
    return fail(fmt::format("its statistics say {} to {} ns, its samples {} to {} ns",
                            statistics.min, statistics.max, low, high));
  }
  if (!(statistics.median >= low && statistics.median <= high)) {
    return fail(fmt::format("its median of {} ns is outside its samples", statistics.median));
  }
  return {};
}

/// Without samples there may be a summary that somebody else made of them, or no time at all.
Result<void> check_summary(const BenchmarkResult& result) {
  if (!result.statistics) return {};
  const auto& [low, high] = result.statistics->median_ci95;
  const double median = result.statistics->median;
  if (!std::isfinite(median) || median <= 0)
    return fail(fmt::format("a median of {} ns; times are positive and finite", median));
  if (!(low > 0 && low <= median && median <= high && std::isfinite(high)))
    return fail(fmt::format("its median of {} ns is outside its interval", median));
  return {};
}

Result<void> check_result(const BenchmarkResult& result) {
  if (auto done = check_samples(result.samples_ns, result.samples_per_round); !done) return done;
  if (result.quiet) {
    if (auto done = check_quiet(*result.quiet); !done) return fail_from(done, "quiet");
  }
  if (result.status != Status::ok) {
    if (result.reason.empty())
      return fail(fmt::format("is {} without a reason", name_of(result.status)));
    return {};
  }
  if (result.check && !result.check->passed) return fail("is ok although its check did not pass");
  if (result.samples_ns.empty()) return check_summary(result);
  if (!result.statistics) return fail("has samples but no statistics");
  if (result.iterations_per_sample == 0) return fail("has samples but says 0 iterations of each");
  return check_statistics(result);
}

}  // namespace

Result<void> check_record(const RunRecord& record) {
  std::set<std::string> seen;
  for (const auto& result : record.benchmarks) {
    const auto expected = fmt::format("{}/{}/{}/{}/{}", result.suite, result.operation,
                                      result.dtype, result.device, result.shape);
    // Parameters that are no part of the five names follow them.
    if (!result.id.starts_with(expected)) {
      return fail(fmt::format("benchmark '{}': its parts make '{}'", result.id, expected));
    }
    if (!seen.insert(result.id).second)
      return fail(fmt::format("two benchmarks have the id '{}'", result.id));
    if (auto done = check_result(result); !done) {
      return fail_from(done, fmt::format("benchmark '{}'", result.id));
    }
  }
  return {};
}

}  // namespace trilobite
