#include "harness/step_server.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <optional>

#include "base/parse_number.hpp"
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

/// One benchmark, open: its body waits inside measure() and runs steps until "close".
class OpenBenchmark final : public Bench {
 public:
  OpenBenchmark(const SelectedBenchmark& benchmark, unsigned threads, uint64_t seed,
                ChildChannel& channel)
      : channel_(channel) {
    case_ = benchmark.parameters;
    threads_ = threads;
    seed_ = seed;
  }

  void work(const Work&) override {}
  void figure(std::string, double) override {}
  void kernels(const std::map<std::string, uint64_t>&) override {}
  void skip(std::string reason) override { end("skipped: " + reason); }
  void fail(std::string reason) override { end("failed: " + reason); }

  /// To be called after the body has returned.
  void finish() {
    if (!served_) end("failed: the benchmark never called measure()");
  }
  bool parent_is_gone() const { return parent_is_gone_; }

 protected:
  bool wants_verification() const override { return !served_; }
  void report(const Verification& verification) override {
    if (!verification.passed) end("failed: wrong output");
  }
  void run(Loop loop, void* context) override {
    if (served_) return;
    served_ = true;
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
    parent_is_gone_ = true;
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
  void end(const std::string& reason) {
    if (served_) return;
    served_ = true;
    std::string line = reason;
    std::ranges::replace(line, '\n', ' ');
    channel_.send("error " + line);
  }

  ChildChannel& channel_;
  bool served_ = false;
  bool parent_is_gone_ = false;
};

class StepServer {
 public:
  StepServer(ChildChannel& channel, std::span<const BenchmarkDefinition> definitions)
      : channel_(channel), definitions_(definitions) {}

  /// False when it was the last request.
  bool answer(const std::string& request) {
    std::string_view rest = request;
    const auto verb = first_word(rest);
    if (request == kGreeting) return channel_.send("ok");
    if (verb == "trilobite-step") return channel_.send("error only version 1 is known");
    if (verb == "list") return list();
    if (verb == "open") return open(rest);
    if (verb == "quit") return false;
    return channel_.send(fmt::format("error '{}' is not a request", verb));
  }

 private:
  bool list() {
    const auto selection = select_benchmarks(definitions_, {});
    if (!selection) return channel_.send("error " + selection.error().message());
    channel_.send("ok");
    for (const auto& benchmark : *selection) channel_.send("- " + benchmark.id);
    return channel_.send(".");
  }

  bool open(std::string_view rest) {
    const auto threads = parse_int(first_word(rest));
    const auto seed = parse_int(first_word(rest));
    if (!threads || *threads < 1 || !seed || *seed < 0)
      return channel_.send("error open needs: threads, seed, id");
    const auto selection = select_benchmarks(definitions_, {});
    const SelectedBenchmark* found = nullptr;
    if (selection) {
      for (const auto& benchmark : *selection)
        if (benchmark.id == rest) found = &benchmark;
    }
    if (found == nullptr) return channel_.send(fmt::format("error there is no '{}'", rest));
    OpenBenchmark bench(*found, static_cast<unsigned>(*threads), static_cast<uint64_t>(*seed),
                        channel_);
    try {
      found->definition->body(bench);
    } catch (const std::exception& problem) {
      bench.fail(fmt::format("the benchmark threw: {}", problem.what()));
    } catch (...) {
      bench.fail("the benchmark threw something that is no std::exception");
    }
    bench.finish();
    return !bench.parent_is_gone();
  }

  ChildChannel& channel_;
  std::span<const BenchmarkDefinition> definitions_;
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
