#include "cli/measure_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.hpp"
#include "cli/exit_code.hpp"
#include "cli/progress.hpp"
#include "cli/stop_signal.hpp"
#include "cli/store_option.hpp"
#include "harness/child_process.hpp"
#include "harness/session.hpp"
#include "measure/environment.hpp"
#include "measure/limit_loops.hpp"
#include "measure/limits.hpp"
#include "record/record_json.hpp"
#include "trilobite/version.hpp"

namespace trilobite::cli {
namespace {

std::vector<DeviceFacts> devices_seen_by_child(const ProgramFacts& program) {
  const auto text = call_in_child(
      [&] {
        Json json = Json::array();
        for (const auto& device : program.devices())
          json.push_back({device.name, device.usable, device.description});
        return json_ascii_line(json);
      },
      std::chrono::seconds(60));
  std::vector<DeviceFacts> devices;
  const auto json = text ? parse_json(*text) : Result<Json>(fail_from(text));
  if (!json) {
    log::warn("the devices could not be listed: {}", json.error().message());
    return devices;
  }
  for (const auto& device : *json) {
    devices.push_back(
        {device[0].get<std::string>(), device[1].get<bool>(), device[2].get<std::string>()});
  }
  return devices;
}

RunRecord begin_record(const RunRequest& request, const ProgramFacts& program) {
  const auto build = build_info();
  RunRecord record;
  record.id = new_run_id();
  record.started_at = utc_now();
  record.command = request.command_line;
  record.version = version();
  record.git = {build.commit, build.dirty};
  record.seed = request.plan.seed;
  record.deterministic = request.plan.deterministic;
  record.threads = request.plan.threads;
  record.isa = limit_loops_isa();
  record.plan = {.samples = request.plan.samples,
                 .rounds = request.plan.rounds,
                 .warm_up_ns = request.plan.warm_up.count(),
                 .measurement_ns = request.plan.measurement.count(),
                 .timeout_ns = request.plan.timeout.count()};
  record.environment = read_environment();
  record.environment.devices = devices_seen_by_child(program);
  return record;
}

Result<std::optional<MachineLimits>> find_limits(const RunRequest& request,
                                                 const RunRecord& record) {
  if (request.options.no_limits) return std::nullopt;
  auto limits = limits_of_this_machine(record.environment, {request.plan.threads},
                                       request.options.refresh_limits);
  if (!limits) return fail_from(limits);
  return *std::move(limits);
}

/// Brings the record up to date with what was collected and writes it. Writing thousands of results
/// after each one would cost more than measuring them, so it waits until twenty times the last
/// writing has passed; the end of the run always writes.
class RecordKeeper {
 public:
  RecordKeeper(RunRecord& record, const Collector& collector, const Path& path)
      : record_(record),
        collector_(collector),
        path_(path),
        cpu_times_(read_cpu_times().value_or(CpuTimes())) {}

  Result<void> update(bool final) {
    const auto now = std::chrono::steady_clock::now();
    if (!final && (path_.empty() || now < next_)) return {};
    record_.benchmarks = collector_.results();
    record_.environment.steal_share =
        steal_share_between(cpu_times_, read_cpu_times().value_or(cpu_times_));
    record_.warnings = doubts_about(record_.environment, build_info());
    std::ranges::move(doubts_about_steal(record_.environment.steal_share),
                      std::back_inserter(record_.warnings));
    std::ranges::move(collector_.warnings(), std::back_inserter(record_.warnings));
    if (final) record_.finished_at = utc_now();
    if (path_.empty()) return {};
    auto written = write_file_atomically(path_, to_json_text(record_));
    const auto cost = std::chrono::steady_clock::now() - now;
    next_ = std::chrono::steady_clock::now() + 20 * cost;
    return written;
  }

 private:
  RunRecord& record_;
  const Collector& collector_;
  Path path_;
  CpuTimes cpu_times_;
  std::chrono::steady_clock::time_point next_;
};

Result<SessionEnd> run_session(Session& session, bool in_process) {
  if (!in_process) return run_isolated(session);
  SteadyClock clock;
  KernelNoiseCounters noise(clock);
  LoopWitness witness(clock);
  return run_in_process(session, clock, noise, &witness);
}

}  // namespace

std::string new_run_id() {
  std::string id = utc_now();
  std::erase_if(id, [](char c) { return c == '-' || c == ':' || c == 'Z'; });
  return fmt::format("{}-{:x}", id, ::getpid());
}

int exit_code_of(const FinishedRun& run) {
  if (!run.stored) return report_error(run.stored.error());
  if (run.interrupted) return kInterrupted;
  const auto bad = [](const BenchmarkResult& result) {
    return result.status == Status::failed || result.status == Status::timeout;
  };
  return std::ranges::any_of(run.record.benchmarks, bad) ? kGateSaidNo : kFine;
}

Result<FinishedRun> measure_run(const RunRequest& request, const ProgramFacts& program) {
  // Before hours of work, not after them.
  if (!request.record_path.empty()) {
    if (auto writable = check_writable(request.record_path); !writable) return fail_from(writable);
  }
  const auto store = writable_store(request.options.store);
  if (!store) return fail_from(store);
  if (auto set = program.set_isa(request.plan.isa); !set) return fail_from(set);
  FinishedRun run{begin_record(request, program), false, {}};
  auto limits = find_limits(request, run.record);
  if (!limits) return fail_from(limits);
  run.record.limits = *std::move(limits);

  Collector collector(request.selection, request.plan,
                      run.record.limits ? &*run.record.limits : nullptr);
  RecordKeeper keeper(run.record, collector, request.record_path);
  Progress progress(stderr_is_terminal(), request.selection.size() * request.plan.rounds);
  catch_stop_signals();
  Result<void> written;
  Session session{request.selection, request.plan, collector, {}};
  session.hooks.on_begin = [&](const Step& step) {
    progress.begin(request.selection[step.benchmark].id);
  };
  session.hooks.on_end = [&](const Step&) {
    progress.end();
    written = keeper.update(false);
  };
  session.hooks.should_stop = [&] { return stop_requested() || !written; };
  const auto end = run_session(session, request.options.no_isolation);
  progress.clear();
  if (!end) return fail_from(end);
  if (!written) return fail_from(written);
  run.interrupted = *end == SessionEnd::interrupted;
  run.record.complete = !run.interrupted;
  if (auto last = keeper.update(true); !last) return fail_from(last);
  run.stored = keep_run(*store, run.record);
  return run;
}

}  // namespace trilobite::cli
