#pragma once
// One visit: runs the body of one benchmark for one round and returns what it brought.

#include <map>

#include "harness/plan.hpp"
#include "harness/sampler.hpp"
#include "harness/selection.hpp"
#include "harness/step_result.hpp"

namespace trilobite {

/// What the first round found out and later rounds rely on.
struct Calibration {
  uint64_t iterations_per_sample = 0;
  size_t planned_samples = 0;
  int64_t quiet_spent_ns = 0;  // by all rounds so far, on looking for quiet moments
};

struct VisitTools {
  const SamplingPlan& plan;
  Clock& clock;
  NoiseCounters& noise;
  CoreWitness* witness;  // nullptr: quiet moments are not looked for
};

/// `calibration` is empty on the first visit. Exceptions out of the body become status failed.
StepResult visit(const SelectedBenchmark& benchmark, const Step& step,
                 const std::optional<Calibration>& calibration, VisitTools tools);

}  // namespace trilobite
