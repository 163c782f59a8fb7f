#include "harness/step_client.hpp"

#include <fmt/format.h>

#include "base/parse_number.hpp"
#include "harness/step_server.hpp"

namespace trilobite {
namespace {

constexpr size_t kMostBenchmarks = 100'000;
constexpr size_t kShownAnswer = 60;

std::string verb_of(const std::string& request) { return request.substr(0, request.find(' ')); }

}  // namespace

Result<StepClient> StepClient::start(std::string name, const std::vector<std::string>& command,
                                     std::chrono::nanoseconds timeout) {
  auto client = spawn(std::move(name), command, timeout);
  if (!client) return client;
  if (auto greeted = client->greet(); !greeted) return fail_from(greeted);
  return client;
}

Result<StepClient> StepClient::spawn(std::string name, const std::vector<std::string>& command,
                                     std::chrono::nanoseconds timeout) {
  // Our own programs serve the protocol when they see this variable.
  auto process = ChildProcess::spawn(command, {{"TRILOBITE_STEP_PROTOCOL", "1"}});
  if (!process) return fail_from(process, name);
  return StepClient(std::move(name), *std::move(process), timeout);
}

Result<void> StepClient::greet() {
  const auto greeted = ask("trilobite-step 1");
  if (!greeted) return fail_from(greeted, "the step protocol (docs/step-protocol.md)");
  opens_fresh_ = *greeted == kFreshOpenings;
  return {};
}

std::unexpected<Error> StepClient::garbage(const std::string& request,
                                           const std::string& answer) const {
  return fail(
      fmt::format("{} answered '{}' to '{}'", name_,
                  answer.size() > kShownAnswer ? answer.substr(0, kShownAnswer) + "..." : answer,
                  verb_of(request)));
}

Result<std::string> StepClient::receive_line(const std::string& request) {
  std::string line;
  for (;;) {
    switch (process_.receive(line, timeout_)) {
      case ChildProcess::Reading::line: return line;
      case ChildProcess::Reading::interrupted:
        continue;  // the caller looks for the signal between steps
      case ChildProcess::Reading::timeout:
        process_.kill();
        process_.wait();
        return fail(fmt::format("{} did not answer '{}' within {:.3g} s and was ended", name_,
                                verb_of(request), std::chrono::duration<double>(timeout_).count()));
      case ChildProcess::Reading::closed:
        return fail(
            fmt::format("{} {} when asked to '{}'", name_, process_.wait(), verb_of(request)));
    }
  }
}

Result<std::string> StepClient::ask(const std::string& request) {
  // A program that is gone is told by what it left to read, or by the end of it.
  (void)process_.send(request);
  return receive_answer(request);
}

Result<std::string> StepClient::receive_answer(const std::string& request) {
  auto line = receive_line(request);
  if (!line) return line;
  if (*line == "ok") return std::string();
  if (line->starts_with("ok ")) return line->substr(3);
  if (line->starts_with("error ")) return fail(fmt::format("{}: {}", name_, line->substr(6)));
  return garbage(request, *line);
}

Result<std::vector<std::string>> StepClient::list() {
  auto begun = ask("list");
  if (!begun) return fail_from(begun);
  std::vector<std::string> ids;
  for (;;) {
    auto line = receive_line("list");
    if (!line) return fail_from(line);
    if (*line == ".") return ids;
    if (!line->starts_with("- ") || ids.size() == kMostBenchmarks) return garbage("list", *line);
    ids.push_back(line->substr(2));
  }
}

Result<void> StepClient::open(const StepBenchmark& benchmark) {
  ask_to_open(benchmark);
  return finish();
}

void StepClient::ask_to_open(const StepBenchmark& benchmark) {
  pending_ = fmt::format("open {} {} {}", benchmark.threads, benchmark.seed, benchmark.id);
  (void)process_.send(pending_);
}

void StepClient::ask_to_close() {
  pending_ = "close";
  (void)process_.send(pending_);
}

Result<void> StepClient::finish() {
  const auto answer = receive_answer(pending_);
  if (!answer) return fail_from(answer);
  return {};
}

Result<StepTime> StepClient::step(uint64_t iterations, uint64_t untimed) {
  const auto request = fmt::format("step {}", iterations);
  // Both requests at once: the program goes on with the second while its data are still warm.
  (void)process_.send(untimed == 0 ? request : fmt::format("step {}\n{}", untimed, request));
  if (untimed != 0)
    if (const auto warm = receive_answer(request); !warm) return fail_from(warm);
  const auto answer = receive_answer(request);
  if (!answer) return fail_from(answer);
  const auto blank = answer->find(' ');
  const auto wall = parse_double(answer->substr(0, blank));
  const auto cpu =
      blank == std::string::npos ? Result<double>(0.0) : parse_double(answer->substr(blank + 1));
  if (!wall || !cpu || !(*wall > 0) || *cpu < 0) return garbage(request, *answer);
  return StepTime{*wall, *cpu};
}

}  // namespace trilobite
