#pragma once
// The step protocol (docs/step-protocol.md) served by a program with registered benchmarks.

#include <functional>
#include <span>
#include <string_view>

#include "harness/child_process.hpp"
#include "trilobite/bench.hpp"

namespace trilobite {

/// What a program answers to the greeting (after "ok") when a process of its own serves every
/// opening.
inline constexpr std::string_view kFreshOpenings = "fresh";

/// True when whoever started this program wants the step protocol instead of the command line.
bool step_protocol_is_wanted();

/// Answers requests until "quit" or the end of the input.
void serve_steps(ChildChannel& channel, std::span<const BenchmarkDefinition> definitions);

/// The same over standard input and output; what benchmarks print goes to standard error.
int serve_steps_on_standard_streams(std::span<const BenchmarkDefinition> definitions);

}  // namespace trilobite
