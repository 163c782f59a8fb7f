#include "harness/plan.hpp"

#include <numeric>

#include "base/rng.hpp"

namespace trilobite {

std::vector<Step> interleaved_steps(size_t benchmarks, size_t rounds, uint64_t seed) {
  Rng rng(seed, 1);
  std::vector<size_t> order(benchmarks);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<Step> steps;
  steps.reserve(benchmarks * rounds);
  for (size_t round = 0; round < rounds; ++round) {
    shuffle(order, rng);
    for (const size_t benchmark : order) steps.push_back({benchmark, round});
  }
  return steps;
}

size_t samples_in_round(size_t samples, size_t rounds, size_t round) {
  return samples / rounds + (round < samples % rounds ? 1 : 0);
}

}  // namespace trilobite
