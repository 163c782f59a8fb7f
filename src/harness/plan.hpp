#pragma once
// SamplingPlan: how much is measured, and in which order.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace trilobite {

struct SamplingPlan {
  size_t samples = 30;
  /// False: slow benchmarks take fewer samples (at least kMinSamples) to stay near the measurement
  /// time.
  bool samples_are_exact = false;
  size_t rounds = 5;
  std::chrono::nanoseconds warm_up = std::chrono::milliseconds(50);
  uint64_t warm_up_iterations = 1;  // at least
  std::chrono::nanoseconds measurement = std::chrono::milliseconds(150);
  std::chrono::nanoseconds timeout =
      std::chrono::seconds(60);  // of one benchmark, setup and all rounds
  uint64_t seed = 42;
  unsigned threads = 1;
  bool deterministic = false;
  std::string isa;  // narrows the instruction set; empty: the best there is

  static constexpr size_t kMinSamples = 10;
};

/// One visit to one benchmark.
struct Step {
  size_t benchmark;  // index into the selection
  size_t round;
};

/// All benchmarks once per round, each round in its own random order.
std::vector<Step> interleaved_steps(size_t benchmarks, size_t rounds, uint64_t seed);

/// How many of `samples` fall into `round`: equal shares, the first rounds take the remainder.
size_t samples_in_round(size_t samples, size_t rounds, size_t round);

}  // namespace trilobite
