#include "harness/step_server.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <optional>
#include <set>

#include "base/parse_number.hpp"
#include "harness/displacement.hpp"
#include "harness/selection.hpp"

namespace trilobite {
namespace {

constexpr std::string_view kGreeting = "trilobite-step 1";

int64_t now_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::string_view first_word(std::string_view& text) {
  const auto end = std::min(text.find(' '), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

struct OpenRequest {
  const SelectedBenchmark* benchmark = nullptr;
  unsigned threads = 1;
  uint64_t seed = 0;
  bool was_checked = false;  // by an earlier opening
};

/// How serving one open benchmark ended; also the exit code of the process that did it.
enum class ServeEnd { closed = 0, not_opened = 118, parent_is_gone = 119 };

/// One benchmark, open: its body waits inside measure() and runs steps until "close".
class OpenBenchmark final : public Bench {
 public:
  OpenBenchmark(const OpenRequest& request, ChildChannel& channel)
      : channel_(channel), was_checked_(request.was_checked) {
    case_ = request.benchmark->parameters;
    threads_ = request.threads;
    seed_ = request.seed;
  }

  void work(const Work&) override {}
  void figure(std::string, double) override {}
  void kernels(const std::map<std::string, uint64_t>&) override {}
  void skip(std::string reason) override { refuse("skipped: " + reason); }
  void fail(std::string reason) override { refuse("failed: " + reason); }

  /// To be called after the body has returned.
  void finish() {
    if (!served_) refuse("failed: the benchmark never called measure()");
  }
  ServeEnd end() const { return end_; }

 protected:
  bool wants_verification() const override { return !served_ && !was_checked_; }
  void report(const Verification& verification) override {
    if (!verification.passed) refuse("failed: wrong output");
  }
  void run(Loop loop, void* context) override {
    if (served_) return;
    served_ = true;
    end_ = ServeEnd::closed;
    loop(context, 1);  // what happens only once is not part of a step
    channel_.send("ok");
    while (const auto request = channel_.receive()) {
      std::string_view rest = *request;
      const auto verb = first_word(rest);
      if (verb == "close") {
        channel_.send("ok");
        return;
      }
      if (verb == "quit") break;
      if (verb == "step") {
        step(loop, context, rest);
      } else {
        channel_.send(fmt::format("error '{}' is not possible while a benchmark is open", verb));
      }
    }
    end_ = ServeEnd::parent_is_gone;
  }

 private:
  void step(Loop loop, void* context, std::string_view text) {
    const auto iterations = parse_int(text);
    if (!iterations || *iterations < 1) {
      channel_.send(fmt::format("error '{}' is no number of iterations", text));
      return;
    }
    const int64_t cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    const int64_t wall = now_ns(CLOCK_MONOTONIC);
    loop(context, static_cast<uint64_t>(*iterations));
    const int64_t wall_ns = now_ns(CLOCK_MONOTONIC) - wall;
    const int64_t cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    channel_.send(fmt::format("ok {} {}", std::max<int64_t>(1, wall_ns), cpu_ns));
  }
  /// Tells the parent once why the benchmark cannot be stepped.
  void refuse(const std::string& reason) {
    if (served_) return;
    served_ = true;
    std::string line = reason;
    std::ranges::replace(line, '\n', ' ');
    channel_.send("error " + line);
  }

  ChildChannel& channel_;
  bool was_checked_;
  bool served_ = false;
  ServeEnd end_ = ServeEnd::not_opened;
};

/// Runs the body until "close".
ServeEnd serve_open(const OpenRequest& request, ChildChannel& channel) {
  OpenBenchmark bench(request, channel);
  try {
    request.benchmark->definition->body(bench);
  } catch (const std::exception& problem) {
    bench.fail(fmt::format("the benchmark threw: {}", problem.what()));
  } catch (...) {
    bench.fail("the benchmark threw something that is no std::exception");
  }
  bench.finish();
  return bench.end();
}

/// Ends as the process that served has ended, so that whoever started us learns the truth.
[[noreturn]] void end_like(int status) {
  if (WIFSIGNALED(status)) {
    ::signal(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/// In a process of its own: pages, heap and stack lie elsewhere in every one.
ServeEnd serve_in_new_process(const OpenRequest& request, ChildChannel& channel) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    channel.send("error cannot start a process");
    return ServeEnd::not_opened;
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    auto end = ServeEnd::not_opened;
    at_random_addresses([&] { end = serve_open(request, channel); });
    ::_exit(static_cast<int>(end));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  for (const auto end : {ServeEnd::closed, ServeEnd::not_opened, ServeEnd::parent_is_gone})
    if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(end)) return end;
  end_like(status);
}

class StepServer {
 public:
  StepServer(ChildChannel& channel, std::span<const BenchmarkDefinition> definitions)
      : channel_(channel), definitions_(definitions) {}

  /// False when it was the last request.
  bool answer(const std::string& request) {
    std::string_view rest = request;
    const auto verb = first_word(rest);
    if (request == kGreeting) return channel_.send(fmt::format("ok {}", kFreshOpenings));
    if (verb == "trilobite-step") return channel_.send("error only version 1 is known");
    if (verb == "list") return list();
    if (verb == "open") return open(rest);
    if (verb == "quit") return false;
    return channel_.send(fmt::format("error '{}' is not a request", verb));
  }

 private:
  bool list() {
    if (!selected()) return true;
    channel_.send("ok");
    for (const auto& benchmark : selection_) channel_.send("- " + benchmark.id);
    return channel_.send(".");
  }

  bool open(std::string_view rest) {
    const auto threads = parse_int(first_word(rest));
    const auto seed = parse_int(first_word(rest));
    if (!threads || *threads < 1 || !seed || *seed < 0)
      return channel_.send("error open needs: threads, seed, id");
    if (!selected()) return true;
    const auto found = std::ranges::find(selection_, rest, &SelectedBenchmark::id);
    if (found == selection_.end())
      return channel_.send(fmt::format("error there is no '{}'", rest));
    // Its output is checked once: it would be the same.
    const auto end =
        serve_in_new_process({&*found, static_cast<unsigned>(*threads),
                              static_cast<uint64_t>(*seed), checked_.contains(found->id)},
                             channel_);
    if (end == ServeEnd::closed) checked_.insert(found->id);
    return end != ServeEnd::parent_is_gone;
  }

  /// False when it has told why there is no selection.
  bool selected() {
    if (!selection_.empty()) return true;
    auto selection = select_benchmarks(definitions_, {});
    if (!selection) {
      channel_.send("error " + selection.error().message());
      return false;
    }
    selection_ = *std::move(selection);
    return true;
  }

  ChildChannel& channel_;
  std::span<const BenchmarkDefinition> definitions_;
  std::vector<SelectedBenchmark> selection_;
  std::set<std::string> checked_;
};

}  // namespace

bool step_protocol_is_wanted() { return std::getenv("TRILOBITE_STEP_PROTOCOL") != nullptr; }

void serve_steps(ChildChannel& channel, std::span<const BenchmarkDefinition> definitions) {
  StepServer server(channel, definitions);
  while (const auto request = channel.receive()) {
    if (!server.answer(*request)) return;
  }
}

int serve_steps_on_standard_streams(std::span<const BenchmarkDefinition> definitions) {
  const int out = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::unsetenv("TRILOBITE_STEP_PROTOCOL");  // benchmarks that start programs mean something else
  ChildChannel channel(STDIN_FILENO, out);
  serve_steps(channel, definitions);
  return 0;
}

}  // namespace trilobite
