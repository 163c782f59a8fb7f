#include "measure/run_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/duration.hpp"
#include "measure/clock.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX asks for it

namespace trilobite {
namespace {

struct Pipe {
  int read = -1;
  int write = -1;
  ~Pipe() {
    close_end(read);
    close_end(write);
  }
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
};

Result<pid_t> start(const std::vector<std::string>& command, const Pipe& out, const Pipe& err) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail(fmt::format("cannot run {}: {}", command[0], std::strerror(error)));
  return pid;
}

/// Takes what is there; false when the other end is closed.
bool drain(int from, std::string& to) {
  std::array<char, 65536> buffer;
  const auto count = ::read(from, buffer.data(), buffer.size());
  if (count <= 0) return count < 0 && errno == EINTR;
  const size_t room = kLargestOutput - std::min(kLargestOutput, to.size());
  to.append(buffer.data(), std::min(static_cast<size_t>(count), room));
  return true;
}

/// Reads both streams until they are closed. False when time ran out.
bool read_all(Pipe& out, Pipe& err, FinishedProgram& program, int64_t deadline_ns) {
  SteadyClock clock;
  while (out.read >= 0 || err.read >= 0) {
    const int64_t left_ms = (deadline_ns - clock.now_ns()) / 1'000'000;
    if (left_ms <= 0) return false;
    std::array<pollfd, 2> ends{pollfd{out.read, POLLIN, 0}, pollfd{err.read, POLLIN, 0}};
    ::poll(ends.data(), ends.size(), static_cast<int>(std::min<int64_t>(left_ms, 1000)));
    if (ends[0].revents != 0 && !drain(out.read, program.output)) Pipe::close_end(out.read);
    if (ends[1].revents != 0 && !drain(err.read, program.errors)) Pipe::close_end(err.read);
  }
  return true;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

Result<FinishedProgram> run_program(const std::vector<std::string>& command,
                                    std::chrono::nanoseconds timeout) {
  TRILOBITE_CHECK(!command.empty());
  Pipe out;
  Pipe err;
  if (!out.open() || !err.open()) return fail("no pipes are left", ErrorKind::environment);
  SteadyClock clock;
  const auto began = clock.now_ns();
  const auto pid = start(command, out, err);
  if (!pid) return fail_from(pid);
  Pipe::close_end(out.write);
  Pipe::close_end(err.write);
  FinishedProgram program;
  const bool in_time = read_all(out, err, program, began + timeout.count());
  if (!in_time) ::kill(*pid, SIGKILL);
  int status = 0;
  rusage usage{};
  while (::wait4(*pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    return fail(
        fmt::format("{} had not ended after {} and was stopped", command[0], to_string(timeout)));
  }
  program.wall_ns = static_cast<double>(clock.now_ns() - began);
  program.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  program.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  program.peak_resident_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return program;
}

}  // namespace trilobite
