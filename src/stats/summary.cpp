#include "stats/summary.hpp"

#include "stats/bootstrap.hpp"
#include "stats/describe.hpp"
#include "stats/median_interval.hpp"

namespace trilobite::stats {

Summary summarize(const Sample& sample, uint64_t seed) {
  return {.n = sample.size(),
          .median = median(sample),
          .mean = mean(sample),
          .sd = sd(sample),
          .mad = mad(sample),
          .min = sample.min(),
          .max = sample.max(),
          .p50 = percentile(sample, 50),
          .p95 = percentile(sample, 95),
          .p99 = percentile(sample, 99),
          .median_ci95 = median_interval(sample),
          .mean_ci95 = mean_interval(sample, {.seed = seed}),
          .outliers = count_outliers(sample)};
}

}  // namespace trilobite::stats
