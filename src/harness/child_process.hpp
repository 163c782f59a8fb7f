#pragma once
// ChildProcess: a forked copy of this process that runs one function and talks over two pipes, line
// by line.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace trilobite {

/// The child's end of the pipes.
class ChildChannel {
 public:
  ChildChannel(int in, int out) : in_(in), out_(out) {}
  /// False when the parent is gone.
  bool send(std::string line) const;
  /// Nothing when the parent is gone.
  std::optional<std::string> receive();

 private:
  int in_;
  int out_;
  std::string buffer_;
};

/// The parent's side. The destructor kills a child that still runs, with all it started, and waits
/// for it: no orphans, no zombies.
class ChildProcess {
 public:
  /// Forks and runs `body` in the child, which exits with 0 afterwards. The child's standard output
  /// goes to standard error, so that results stay clean. It dies with its parent.
  static Result<ChildProcess> start(const std::function<void(ChildChannel&)>& body);

  /// Runs another program (found on PATH) with our environment and `more` on top of it; the two
  /// pipes are its standard input and output. It dies with its parent. Fails (input) when it cannot
  /// be run.
  using Variable = std::pair<std::string, std::string>;
  static Result<ChildProcess> spawn(const std::vector<std::string>& command,
                                    const std::vector<Variable>& more = {});

  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  enum class Reading { line, timeout, closed, interrupted };
  /// Waits for one line. `interrupted`: a signal arrived first.
  Reading receive(std::string& line, std::chrono::nanoseconds timeout);
  bool send(std::string line) const;
  pid_t pid() const { return pid_; }
  void kill() const;
  /// Waits a moment for its end, and ends what is still running then: "exited with status 3", "was
  /// killed by signal 11 (Segmentation fault)".
  std::string wait();

 private:
  ChildProcess(pid_t pid, int in, int out) : pid_(pid), in_(in), out_(out) {}
  bool ends_within(std::chrono::nanoseconds patience) const;
  pid_t pid_;
  int in_;
  int out_;
  std::string buffer_;
};

/// The text that `function` returns when it is called in a child process, so that whatever it loads
/// or starts leaves no trace here.
Result<std::string> call_in_child(const std::function<std::string()>& function,
                                  std::chrono::nanoseconds timeout);

}  // namespace trilobite
