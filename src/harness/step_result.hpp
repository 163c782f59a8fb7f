#pragma once
// StepResult: what one visit to one benchmark brought. Crosses from the measuring process to the
// one that keeps the record, hence its JSON form.

#include "base/json.hpp"
#include "record/record.hpp"

namespace trilobite {

struct StepResult {
  size_t benchmark = 0;  // index into the selection
  size_t round = 0;
  size_t planned_samples = 0;  // over all rounds, after the first round saw how slow it is
  bool warm_up_was_stable = true;
  int64_t quiet_spent_ns = 0;  // on looking for quiet moments
  BenchmarkResult
      partial;  // status, samples of this round, work, check, ...; no names, no statistics
};

Json to_json(const StepResult& step);
Result<StepResult> step_from_json(const Json& json);

}  // namespace trilobite
