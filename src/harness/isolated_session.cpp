#include <fmt/format.h>
#include <signal.h>

#include "base/log.hpp"
#include "harness/child_process.hpp"
#include "harness/displacement.hpp"
#include "harness/session.hpp"

namespace trilobite {
namespace {

/// In the child: visit whatever the parent names until it closes the pipe.
void serve_visits(ChildChannel& channel, const Session& session) {
  SteadyClock clock;
  KernelNoiseCounters noise(clock);
  LoopWitness witness(clock);
  witness.learn(session.collector.shortest_witness_ns());  // of the rounds before this process
  while (const auto order = channel.receive()) {
    const auto json = parse_json(*order);
    TRILOBITE_CHECK(json.has_value());
    const Step step{json->at("benchmark").get<size_t>(), json->at("round").get<size_t>()};
    std::optional<Calibration> calibration;
    if (json->contains("iterations")) {
      calibration =
          Calibration{json->at("iterations").get<uint64_t>(), json->at("samples").get<size_t>(),
                      json->at("quiet_spent_ns").get<int64_t>()};
    }
    const auto result = visit(session.selection[step.benchmark], step, calibration,
                              {session.plan, clock, noise, &witness});
    const auto text = json_line(to_json(result));
    if (!channel.send(text)) return;
  }
}

std::string order_for(const Step& step, const std::optional<Calibration>& calibration) {
  Json json{{"benchmark", step.benchmark}, {"round", step.round}};
  if (calibration) {
    json["iterations"] = calibration->iterations_per_sample;
    json["samples"] = calibration->planned_samples;
    json["quiet_spent_ns"] = calibration->quiet_spent_ns;
  }
  return json_line(json);
}

enum class VisitEnd { done, child_lost, interrupted };

/// Keeps one child at work and replaces it when it is lost, and for every round: where the pages of
/// a process lie stays the same as long as it lives and is worth a per cent.
class Supervisor {
 public:
  explicit Supervisor(Session& session)
      : session_(session), time_left_(session.selection.size(), session.plan.timeout) {}

  Result<SessionEnd> run() {
    for (const Step& step :
         interleaved_steps(session_.selection.size(), session_.plan.rounds, session_.plan.seed)) {
      if (session_.hooks.should_stop()) return SessionEnd::interrupted;
      if (!session_.collector.wants(step)) continue;
      if (step.round != round_) child_.reset();
      round_ = step.round;
      auto child = current_child();
      if (!child) return fail_from(child);
      session_.hooks.on_begin(step);
      const VisitEnd end = visit_in(**child, step);
      if (end == VisitEnd::interrupted) return SessionEnd::interrupted;
      if (end == VisitEnd::child_lost) child_.reset();
      session_.hooks.on_end(step);
    }
    return SessionEnd::finished;
  }

 private:
  /// Starts one when there is none. Valid until the child is lost.
  Result<ChildProcess*> current_child() {
    if (child_) return &*child_;
    auto child = ChildProcess::start([&](ChildChannel& channel) {
      take_random_pages();
      at_random_addresses([&] { serve_visits(channel, session_); });
    });
    if (!child) return fail_from(child);
    return &child_.emplace(*std::move(child));
  }

  VisitEnd visit_in(ChildProcess& child, const Step& step) {
    Collector& collector = session_.collector;
    const auto start = std::chrono::steady_clock::now();
    child.send(order_for(step, collector.calibration(step.benchmark)));
    std::string line;
    auto& left = time_left_[step.benchmark];
    auto reading = child.receive(line, left);
    while (reading == ChildProcess::Reading::interrupted && !session_.hooks.should_stop()) {
      reading = child.receive(line, left);
    }
    left -= std::chrono::steady_clock::now() - start;
    switch (reading) {
      case ChildProcess::Reading::interrupted: return VisitEnd::interrupted;
      case ChildProcess::Reading::line: return take(step, line);
      case ChildProcess::Reading::timeout:
        collector.end_early(
            step.benchmark, Status::timeout,
            fmt::format("took longer than {} s; raise --timeout",
                        std::chrono::duration<double>(session_.plan.timeout).count()));
        return VisitEnd::child_lost;
      case ChildProcess::Reading::closed: break;
    }
    // Whoever stops us may stop our children as well: that is no crash.
    if (session_.hooks.should_stop()) return VisitEnd::interrupted;
    collector.end_early(step.benchmark, Status::failed,
                        fmt::format("its process {}", child.wait()));
    return VisitEnd::child_lost;
  }

  VisitEnd take(const Step& step, const std::string& line) {
    const auto json = parse_json(line);
    const auto result = json ? step_from_json(*json) : Result<StepResult>(fail_from(json));
    if (!result || result->benchmark != step.benchmark) {
      session_.collector.end_early(step.benchmark, Status::failed,
                                   "its process answered with something unreadable");
      return VisitEnd::child_lost;
    }
    session_.collector.add(*result);
    return VisitEnd::done;
  }

  Session& session_;
  std::vector<std::chrono::nanoseconds> time_left_;
  std::optional<ChildProcess> child_;
  size_t round_ = 0;  // of the child
};

}  // namespace

Result<SessionEnd> run_isolated(Session& session) {
  ::signal(SIGPIPE, SIG_IGN);  // a child that died is noticed when reading, not by dying with it
  return Supervisor(session).run();
}

}  // namespace trilobite
