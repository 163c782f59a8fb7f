#pragma once
// A session: visits all benchmarks of a selection, round by round, and keeps what they bring. By
// default they run in a child process, so that a crash or a hang costs one benchmark and nothing
// else.

#include <functional>

#include "harness/collector.hpp"

namespace trilobite {

enum class SessionEnd { finished, interrupted };

/// Called in the keeping process while nothing is being measured.
struct SessionHooks {
  /// Before each visit.
  std::function<void(const Step& step)> on_begin = [](const Step&) {};
  /// After each visit, also one that ended in a crash or a timeout.
  std::function<void(const Step& step)> on_end = [](const Step&) {};
  /// True when the user wants to stop.
  std::function<bool()> should_stop = [] { return false; };
};

struct Session {
  const std::vector<SelectedBenchmark>& selection;
  const SamplingPlan& plan;
  Collector& collector;
  SessionHooks hooks;
};

/// Everything in this process: for debuggers, profilers and tests. Timeouts only end the taking of
/// samples. Without a witness quiet moments are not looked for.
SessionEnd run_in_process(Session& session, Clock& clock, NoiseCounters& noise,
                          CoreWitness* witness);

/// In a child process that is replaced when it dies or exceeds the timeout. Must be called before
/// this process has threads. Fails (environment) when no process can be made.
Result<SessionEnd> run_isolated(Session& session);

}  // namespace trilobite
