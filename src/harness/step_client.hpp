#pragma once
// The parent's side of the step protocol (docs/step-protocol.md): a program that holds benchmarks
// open and runs a given number of iterations whenever it is told to.

#include <chrono>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "harness/child_process.hpp"

namespace trilobite {

/// What one step took, as its process measured it.
struct StepTime {
  double wall_ns = 0;
  double cpu_ns = 0;  // of all threads of the process
};

struct StepBenchmark {
  std::string id;
  unsigned threads = 1;
  uint64_t seed = 42;
};

/// The process that uses it must ignore SIGPIPE, as our programs do: a program that ended is an
/// error, not the end of both.
class StepClient {
 public:
  /// Starts the program and greets it. `name` ("base", "candidate") begins every message.
  static Result<StepClient> start(std::string name, const std::vector<std::string>& command,
                                  std::chrono::nanoseconds timeout);
  /// The two halves of start(), so that several programs can start side by side.
  static Result<StepClient> spawn(std::string name, const std::vector<std::string>& command,
                                  std::chrono::nanoseconds timeout);
  Result<void> greet();

  pid_t pid() const { return process_.pid(); }
  /// It said that every opening is served by a process of its own.
  bool opens_fresh() const { return opens_fresh_; }
  Result<std::vector<std::string>> list();
  /// Sets the benchmark up and checks its output.
  Result<void> open(const StepBenchmark& benchmark);
  /// The same in two halves, so that several programs can be asked before any has answered.
  void ask_to_open(const StepBenchmark& benchmark);
  void ask_to_close();
  Result<void> finish();
  /// Runs `iterations`, after `untimed` more that do not count.
  Result<StepTime> step(uint64_t iterations, uint64_t untimed = 0);

 private:
  StepClient(std::string name, ChildProcess process, std::chrono::nanoseconds timeout)
      : name_(std::move(name)), process_(std::move(process)), timeout_(timeout) {}
  /// Sends `request` and returns what follows "ok" in the answer.
  Result<std::string> ask(const std::string& request);
  Result<std::string> receive_answer(const std::string& request);
  Result<std::string> receive_line(const std::string& request);
  std::unexpected<Error> garbage(const std::string& request, const std::string& answer) const;

  std::string name_;
  ChildProcess process_;
  std::string pending_;  // the request that finish() waits for
  bool opens_fresh_ = false;
  std::chrono::nanoseconds timeout_;
};

}  // namespace trilobite
