#include "harness/session.hpp"

namespace trilobite {

SessionEnd run_in_process(Session& session, Clock& clock, NoiseCounters& noise,
                          CoreWitness* witness) {
  const auto steps =
      interleaved_steps(session.selection.size(), session.plan.rounds, session.plan.seed);
  const VisitTools tools{session.plan, clock, noise, witness};
  for (const Step& step : steps) {
    if (session.hooks.should_stop()) return SessionEnd::interrupted;
    if (!session.collector.wants(step)) continue;
    session.hooks.on_begin(step);
    const auto calibration = session.collector.calibration(step.benchmark);
    session.collector.add(visit(session.selection[step.benchmark], step, calibration, tools));
    session.hooks.on_end(step);
  }
  return SessionEnd::finished;
}

}  // namespace trilobite
