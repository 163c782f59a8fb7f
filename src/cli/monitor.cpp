#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "base/duration.hpp"
#include "base/log.hpp"
#include "cli/exit_code.hpp"
#include "cli/monitor_config.hpp"
#include "cli/stop_signal.hpp"
#include "cli/store_option.hpp"
#include "cli/subcommands.hpp"
#include "harness/child_process.hpp"
#include "measure/clock.hpp"
#include "record/record_json.hpp"
#include "report/regression_report.hpp"

namespace trilobite::cli {
namespace {

struct Outcome {
  std::vector<notify::Alert> alerts;
  std::string summary;
};

/// Runs the set as a program of its own, which also stores it: what happens in there cannot end the
/// monitor.
Result<RunRecord> measured(const MonitorConfig& config, const std::string& store) {
  const Path path =
      std::filesystem::temp_directory_path() / fmt::format("trilobite-monitor-{}.json", ::getpid());
  std::vector<std::string> command{"/proc/self/exe", "bench"};
  command.insert(command.end(), config.bench.begin(), config.bench.end());
  for (const auto& word : {std::string("--output"), path.string(), std::string("--store"),
                           store_named(store).empty() ? "none" : store_named(store)})
    command.push_back(word);
  auto child = ChildProcess::spawn(command);
  if (!child) return fail_from(child);
  const auto end = std::chrono::steady_clock::now() + config.timeout;
  for (std::string line;;) {
    const auto left = end - std::chrono::steady_clock::now();
    const auto reading = child->receive(line, std::max(left, decltype(left)::zero()));
    if (reading == ChildProcess::Reading::closed) break;
    if (reading == ChildProcess::Reading::timeout) {
      child->kill();
      break;
    }
    if (stop_requested()) child->kill();
  }
  const auto ended = child->wait();
  auto record = load_record(path);
  std::error_code code;
  std::filesystem::remove(path, code);
  if (!record) return fail(fmt::format("the benchmarks left no record: bench {}", ended));
  return record;
}

void check_limits(const MonitorConfig& config, const RunRecord& record, Outcome& outcome) {
  for (const auto& limit : config.limits) {
    std::string text;
    std::string key = "limit " + limit.pattern_text;
    bool matched = false;
    for (const auto& result : record.benchmarks) {
      if (!std::regex_search(result.id, limit.pattern)) continue;
      matched = true;
      if (!result.statistics ||
          result.statistics->median <= static_cast<double>(limit.most.count()))
        continue;
      key += " " + result.id;
      text += fmt::format("{}: {}, the limit is {}\n", result.id,
                          human_time(result.statistics->median), to_string(limit.most));
    }
    if (!matched) {
      outcome.alerts.push_back(
          {key, fmt::format("trilobite: no benchmark matches the limit '{}'", limit.pattern_text),
           "limits are regular expressions over the ids of the benchmarks that were run", false});
    } else if (!text.empty()) {
      outcome.alerts.push_back(
          {key, fmt::format("{} is above its limit", limit.pattern_text), text, true});
    }
  }
}

/// Where there is a baseline, the comparison with it tells what failed.
void check_failures(const MonitorConfig& config, const RunRecord& record, Outcome& outcome) {
  if (!config.baseline.empty()) return;
  std::string key = "failed";
  std::string text;
  for (const auto& result : record.benchmarks) {
    if (result.status != Status::failed && result.status != Status::timeout) continue;
    key += " " + result.id;
    text += fmt::format("{}: {}: {}\n", result.id, name_of(result.status), result.reason);
  }
  if (!text.empty()) outcome.alerts.push_back({key, "trilobite: benchmarks failed", text, true});
}

/// One matter: the status and the benchmarks that make it.
std::string key_of(const verdict::RegressionReport& report) {
  std::set<std::string> benchmarks;
  for (const auto& verdict : report.verdicts)
    if (verdict.answer == verdict::Answer::regressed) benchmarks.insert(verdict.benchmark);
  for (const auto& problem : report.problems) benchmarks.insert(problem.benchmark);
  return fmt::format("{} {}", verdict::name_of(report.status), fmt::join(benchmarks, " "));
}

Result<void> check_baseline_of(const MonitorConfig& config, const std::string& store,
                               const RunRecord& record, Outcome& outcome) {
  if (config.baseline.empty()) return {};
  const auto baseline = load_pool(config.baseline, store);
  if (!baseline) return fail_from(baseline, "baseline");
  const auto report = verdict::check_regression(*baseline, baseline_of(record), config.regression);
  if (!report) return fail_from(report);
  outcome.summary = std::string(verdict::name_of(report->status));
  if (report->status == verdict::Status::all_pass) return {};
  outcome.alerts.push_back(
      {key_of(*report),
       fmt::format("trilobite: {} against {}", verdict::name_of(report->status), config.baseline),
       regression_table(*report, 0, false),
       report->status == verdict::Status::has_critical_regressions});
  return {};
}

Outcome one_round(const MonitorConfig& config, const std::string& store) {
  Outcome outcome{.alerts = {}, .summary = "stored"};
  const auto record = measured(config, store);
  if (!record) {
    outcome.summary = record.error().message();
    outcome.alerts.push_back(
        {"failure", "trilobite: the benchmarks could not run", record.error().message(), true});
    return outcome;
  }
  check_limits(config, *record, outcome);
  check_failures(config, *record, outcome);
  if (auto checked = check_baseline_of(config, store, *record, outcome); !checked) {
    outcome.summary = checked.error().message();
    outcome.alerts.push_back(
        {"failure", "trilobite: the run could not be checked", checked.error().message(), true});
  }
  return outcome;
}

/// Tells what may be told again; returns how many alerts a channel took.
Result<size_t> tell(const MonitorConfig& config, const Outcome& outcome) {
  auto times = notify::load_alert_times(config.state_file);
  if (!times) return fail_from(times);
  size_t told = 0;
  for (const auto& alert : outcome.alerts) {
    const auto delivery = notify::deliver(alert, config.alerts, std::time(nullptr), *times);
    for (const auto& problem : delivery.problems) fmt::print(stderr, "trilobite: {}\n", problem);
    told += delivery.taken > 0;
  }
  if (auto saved = notify::save_alert_times(config.state_file, *times); !saved)
    return fail_from(saved);
  return told;
}

void wait_until(std::chrono::steady_clock::time_point time) {
  while (!stop_requested() && std::chrono::steady_clock::now() < time)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

Result<int> round_of(const MonitorConfig& config, const std::string& store) {
  const auto outcome = one_round(config, store);
  // What was stopped half-way says nothing about the benchmarks.
  if (stop_requested()) return kInterrupted;
  const auto told = tell(config, outcome);
  if (!told) return fail_from(told);
  const auto line =
      fmt::format("{} {}, {} alert{} ({} told)\n", utc_now(), outcome.summary,
                  outcome.alerts.size(), outcome.alerts.size() == 1 ? "" : "s", *told);
  if (auto printed = print(line); !printed) return fail_from(printed);
  return outcome.alerts.empty() ? kFine : kGateSaidNo;
}

}  // namespace

int run_monitor(const Arguments& arguments) {
  CLI::App app("Runs benchmarks again and again, stores and checks them, and alerts", "monitor");
  std::string config_path;
  std::string every = "1h";
  std::string store;
  bool once = false;
  app.add_option("--config", config_path, "what to run, compare with and tell, as JSON")
      ->required();
  app.add_option("--every", every, "from start to start (default: 1h)")->check(duration_value());
  app.add_flag("--once", once, "one round, for cron: exit code 1 when there was an alert");
  add_store_option(app, store);
  if (const auto over = parse(app, arguments)) return *over;
  const auto config = load_monitor_config(config_path);
  if (!config) return report_error(config.error());
  if (store.empty()) store = config->store;
  catch_stop_signals();
  const auto interval = parse_duration(every).value();
  if (interval < std::chrono::seconds(1))
    return report_error(Error("--every must be at least 1s", ErrorKind::input));
  for (;;) {
    const auto next = std::chrono::steady_clock::now() + interval;
    const auto code = round_of(*config, store);
    if (!code) return report_error(code.error());
    if (once) return *code;
    wait_until(next);
    if (stop_requested()) return kInterrupted;
  }
}

}  // namespace trilobite::cli
