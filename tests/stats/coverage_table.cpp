// Prints the coverage table of docs/adr/0006: how often 95 % intervals hold the truth, in per cent
// of 10,000 seeded runs. Takes about three minutes; src/stats/coverage_test.cpp guards the same
// claims.

#include <fmt/format.h>

#include <array>
#include <iostream>

#include "stats/bootstrap.hpp"
#include "stats/describe.hpp"
#include "stats/median_interval.hpp"
#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

constexpr size_t kRuns = 10'000;

/// Runs covered by: median_interval, BCa median, mean_interval, BCa mean, median_ratio_interval.
std::array<size_t, 5> count_covered(const Population& population, size_t n) {
  Engine engine(7 + n);
  std::array<size_t, 5> covered{};
  for (size_t run = 0; run < kRuns; ++run) {
    const auto sample = draw_sample(population, n, engine);
    const auto other = draw_sample(population, n, engine);
    const BootstrapOptions options{.seed = run};
    const std::array<bool, 5> holds = {
        median_interval(sample).contains(population.median),
        bca_interval(sample, median_of_sorted, options).contains(population.median),
        mean_interval(sample, options).contains(population.mean),
        bca_interval(sample, mean_of_sorted, options).contains(population.mean),
        median_ratio_interval(sample, other, options)->contains(1)};
    for (size_t i = 0; i < holds.size(); ++i) covered[i] += static_cast<size_t>(holds[i]);
  }
  return covered;
}

}  // namespace
}  // namespace trilobite::stats

int main() {
  using namespace trilobite::stats;
  const std::array populations = {normal_population(), lognormal_population(0.5),
                                  exponential_population(), lognormal_population(1)};
  for (const size_t n : {30U, 10U, 5U}) {
    for (const auto& population : populations) {
      std::cout << fmt::format("| {} | {} |", population.name, n);
      for (const size_t covered : count_covered(population, n)) {
        std::cout << fmt::format(" {:.1f} |", 100.0 * static_cast<double>(covered) / kRuns);
      }
      std::cout << std::endl;  // at once: a row takes many seconds
    }
  }
}
