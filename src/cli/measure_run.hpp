#pragma once
// Runs a selection of benchmarks and keeps the record: environment, limits, progress, a file that
// is complete after every benchmark.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "cli/run_options.hpp"
#include "harness/selection.hpp"
#include "record/record.hpp"

namespace trilobite::cli {

/// What a program adds to the lab's own knowledge; a program without the engine leaves the
/// defaults.
struct ProgramFacts {
  /// Narrows the instruction set of the program's kernels; called before anything is measured.
  std::function<Result<void>(const std::string& isa)> set_isa = [](const std::string&) {
    return Result<void>();
  };
  /// Called in a child process: opening a device may start threads.
  std::function<std::vector<DeviceFacts>()> devices = [] { return std::vector<DeviceFacts>(); };
  /// Suites that go by one name together.
  std::map<std::string, std::vector<std::string>> suite_sets = {};
};

struct RunRequest {
  const std::vector<SelectedBenchmark>& selection;
  const SamplingPlan& plan;
  const RunOptions& options;
  std::vector<std::string> command_line;
  Path record_path;  // empty: no file
};

struct FinishedRun {
  RunRecord record;
  bool interrupted = false;
  Result<void> stored;  // the record is safe in its file, or in memory, when the store failed
};

Result<FinishedRun> measure_run(const RunRequest& request, const ProgramFacts& program);

/// What the store said when it could not keep the run; 130 when interrupted; 1 when a benchmark had
/// a wrong answer, crashed or timed out: a gate that said no; else 0.
int exit_code_of(const FinishedRun& run);

/// "20260131T123456-1a2b": time and process, so that two runs never share a file.
std::string new_run_id();

}  // namespace trilobite::cli
