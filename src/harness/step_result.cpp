#include "harness/step_result.hpp"

#include "record/record_json.hpp"

namespace trilobite {

Json to_json(const StepResult& step) {
  return {{"benchmark", step.benchmark},
          {"round", step.round},
          {"planned_samples", step.planned_samples},
          {"warm_up_was_stable", step.warm_up_was_stable},
          {"quiet_spent_ns", step.quiet_spent_ns},
          {"partial", to_json(step.partial)}};
}

Result<StepResult> step_from_json(const Json& json) {
  ObjectReader reader(json, "step");
  StepResult step;
  step.benchmark = static_cast<size_t>(reader.integer("benchmark").value_or(0));
  step.round = static_cast<size_t>(reader.integer("round").value_or(0));
  step.planned_samples = static_cast<size_t>(reader.integer("planned_samples").value_or(0));
  step.warm_up_was_stable = reader.boolean("warm_up_was_stable").value_or(true);
  step.quiet_spent_ns = reader.integer("quiet_spent_ns").value_or(0);
  reader.require("partial");
  const Json* partial = reader.member("partial");
  if (auto done = reader.finish(); !done) return fail_from(done);
  auto result = benchmark_from_json(*partial, "step.partial");
  if (!result) return fail_from(result);
  step.partial = *std::move(result);
  return step;
}

}  // namespace trilobite
