#pragma once
// Runs the lock-step of two programs over a selection of benchmarks and judges it; what `ab` and
// `self-test` share.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "harness/lockstep.hpp"
#include "report/ab_report.hpp"
#include "verdict/ab.hpp"

namespace trilobite::cli {

struct AbRequest {
  std::vector<std::string> base;
  std::vector<std::string> candidate;
  std::string pattern;  // ECMAScript, searched anywhere in the id
  std::chrono::nanoseconds most_time = std::chrono::seconds(1);  // per benchmark and stage
  std::chrono::nanoseconds step = std::chrono::microseconds(50);
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);
  unsigned threads = 1;
  uint64_t seed = 42;
  verdict::AbSettings settings;
  bool confirm = true;
  std::function<void(const std::string& id)> on_begin = [](const std::string&) {};
};

/// One benchmark, one stage: units until it is decided or the time is over. `tests` is the number
/// of benchmarks that the evidence has to suffice for.
Result<verdict::AbVerdict> run_stage(const AbRequest& request, const std::string& id, size_t tests,
                                     uint64_t stage_seed);

/// All benchmarks that both programs have: first stage, false-discovery control, confirmation when
/// there are several. A program that fails costs the benchmark, which becomes a problem.
Result<AbReport> run_ab_suite(const AbRequest& request);

}  // namespace trilobite::cli
