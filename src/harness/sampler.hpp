#pragma once
// Sampler: the measuring itself. Warm up until stable, find the number of iterations that fill a
// sample, take samples, retake the disturbed ones while the budget lasts.

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/plan.hpp"
#include "measure/clock.hpp"
#include "measure/core_witness.hpp"
#include "measure/noise.hpp"
#include "record/record.hpp"

namespace trilobite {

/// Runs the benchmark's body that many times.
using IterationLoop = std::function<void(uint64_t iterations)>;

struct WarmUp {
  bool stable = false;          // the last batches agreed within 5 %
  double ns_per_iteration = 0;  // of the last batch
};

struct Samples {
  std::vector<double> ns_per_iteration;
  Disturbance disturbance;
};

/// How samples of quiet moments are taken.
struct QuietPlan {
  uint64_t iterations = 1;  // of a sample
  size_t samples = 10;      // no more are needed
  int64_t budget_ns = 0;    // no longer is waited for them
};

class Sampler {
 public:
  Sampler(Clock& clock, NoiseCounters& noise) : clock_(clock), noise_(noise) {}

  /// Batches of doubling length until `plan.warm_up` has passed and three in a row agree within 5
  /// %, but no longer than four times that.
  WarmUp warm_up(const IterationLoop& loop, const SamplingPlan& plan);

  /// Takes `count` samples. Stops early at `deadline_ns` (of the clock) once it has two.
  Samples take(const IterationLoop& loop, uint64_t iterations, size_t count, int64_t deadline_ns);

  /// Samples with a quiet look of the witness before and after them; maybe none. Tries the CPUs in
  /// turn while there is no quiet moment.
  std::vector<double> take_quiet(const IterationLoop& loop, const QuietPlan& plan,
                                 CoreWitness& witness);

 private:
  int64_t timed(const IterationLoop& loop, uint64_t iterations);
  Clock& clock_;
  NoiseCounters& noise_;
};

/// Iterations that fill one sample: measurement time / samples, at least 1.
uint64_t iterations_for(const SamplingPlan& plan, double ns_per_iteration);

/// Iterations of a sample that fits into a quiet moment; 0 when one takes too long for that.
uint64_t quiet_iterations_for(double ns_per_iteration);

/// The number of samples over all rounds: the plan's, or fewer when one iteration is so slow that
/// they would take more than four times the measurement time.
size_t samples_for(const SamplingPlan& plan, double ns_per_iteration);

}  // namespace trilobite
