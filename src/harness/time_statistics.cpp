#include "harness/time_statistics.hpp"

#include "base/error.hpp"
#include "stats/summary.hpp"

namespace trilobite {

TimeStatistics statistics_of(const std::vector<double>& samples_ns, uint64_t seed) {
  const auto sample = stats::Sample::from(samples_ns);
  TRILOBITE_CHECK(sample.has_value());
  const auto summary = stats::summarize(*sample, seed);
  return {.median = summary.median,
          .mean = summary.mean,
          .sd = summary.sd,
          .mad = summary.mad,
          .min = summary.min,
          .max = summary.max,
          .p50 = summary.p50,
          .p95 = summary.p95,
          .p99 = summary.p99,
          .median_ci95 = {summary.median_ci95.low, summary.median_ci95.high},
          .outliers = {summary.outliers.low_severe, summary.outliers.low_mild,
                       summary.outliers.high_mild, summary.outliers.high_severe}};
}

Throughput throughput_of(const WorkDone& work, double median_ns) {
  const double per_second = 1e9 / median_ns;
  return {.elements = work.elements * per_second,
          .bytes = (work.bytes_read + work.bytes_written) * per_second,
          .items = work.items * per_second,
          .tokens = work.tokens * per_second,
          .flops = work.flops * per_second};
}

}  // namespace trilobite
