#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/json.hpp"
#include "base/thread_pool.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/self_test_trials.hpp"
#include "cli/stop_signal.hpp"
#include "cli/store_option.hpp"
#include "cli/subcommands.hpp"
#include "cli/temporary_path.hpp"
#include "harness/child_process.hpp"
#include "harness/step_server.hpp"
#include "measure/build_info.hpp"
#include "measure/clock.hpp"
#include "measure/environment.hpp"
#include "report/table.hpp"

namespace trilobite::cli {
namespace {

struct SelfTestFlags {
  std::string time = "60s";
  int64_t seed = 42;
  bool load = false;
  std::string format = "human";
  std::string output;
  std::string store;
  std::string subject = "kernel";
  std::vector<double> effects;
  size_t trials = 0;
  bool ab_only = false;
  bool one_run = false;
  SelfTestProgram program;  // for the programs of the trials
  std::string model;
};

std::string rate_text(const EffectTally& tally, size_t method) {
  if (tally.trials[method] == 0) return "not run";
  const auto interval = tally.interval(method);
  return fmt::format("{}/{} = {:.1f} % ({:.1f}-{:.1f})", tally.alarms[method], tally.trials[method],
                     100 * tally.rate(method), 100 * interval.low, 100 * interval.high);
}

std::string human(const std::vector<EffectTally>& tallies, size_t width) {
  Table table{{{"extra work", true, 9}}, {}};
  for (const auto* method : kMethods) table.columns.push_back({method, false, 5});
  for (const auto* column : {"ab takes", "at most", "ab says"})
    table.columns.push_back({column, false, 6});
  for (const auto& tally : tallies) {
    Row row{{fmt::format("{:.1f} %{}", 100 * tally.effect,
                         tally.effect == 0 ? " (false alarms)" : "")}};
    for (size_t method = 0; method < kMethods.size(); ++method)
      row.push_back({rate_text(tally, method)});
    const auto trials = static_cast<double>(std::max<size_t>(1, tally.trials[0]));
    row.push_back({human_time(1e9 * tally.ab_seconds / trials)});
    row.push_back({human_time(1e9 * tally.ab_most_seconds)});
    row.push_back({fmt::format("{:+.2f} %", 100 * tally.ab_changes / trials)});
    table.rows.push_back(std::move(row));
  }
  return "how often each method says 'slower', with 95 % intervals\n" + render(table, width, false);
}

std::string json_text(const std::vector<EffectTally>& tallies, const SelfTestFlags& flags,
                      const std::string& fingerprint) {
  Json effects = Json::array();
  for (const auto& tally : tallies) {
    Json methods = Json::object();
    for (size_t method = 0; method < kMethods.size(); ++method) {
      const auto interval = tally.interval(method);
      const bool was_run = tally.trials[method] > 0;
      methods[kMethods[method]] = {{"trials", tally.trials[method]},
                                   {"alarms", tally.alarms[method]},
                                   {"rate", was_run ? Json(tally.rate(method)) : Json(nullptr)},
                                   {"ci95", {interval.low, interval.high}}};
    }
    effects.push_back({{"effect", tally.effect},
                       {"methods", std::move(methods)},
                       {"ab_seconds", tally.ab_seconds},
                       {"ab_most_seconds", tally.ab_most_seconds},
                       {"ab_changes", tally.ab_changes},
                       {"ab_withheld", tally.ab_withheld}});
  }
  const auto build = build_info();
  const Json json{{"schema", "trilobite.self-test/1"},
                  {"at", utc_now()},
                  {"fingerprint", fingerprint},
                  {"commit", build.commit},
                  {"seed", flags.seed},
                  {"background_load", flags.load},
                  {"subject", flags.subject},
                  {"effects", std::move(effects)}};
  return json_document(json);
}

/// One process per CPU that does nothing but compute, until it is destroyed.
Result<std::vector<ChildProcess>> busy_processes() {
  std::vector<ChildProcess> busy;
  for (unsigned i = 0; i < usable_cpus(); ++i) {
    auto child = ChildProcess::start([](ChildChannel&) {
      for (volatile uint64_t counter = 0;;) counter = counter + 1;
    });
    if (!child) return fail_from(child);
    busy.push_back(*std::move(child));
  }
  return busy;
}

Result<std::vector<EffectTally>> trials_of(const SelfTestFlags& flags) {
  std::vector<ChildProcess> load;
  if (flags.load) {
    auto started = busy_processes();
    if (!started) return fail_from(started);
    load = *std::move(started);
  }
  SelfTestPlan plan;
  plan.time = parse_duration(flags.time).value();
  plan.seed = static_cast<uint64_t>(flags.seed);
  plan.should_stop = stop_requested;
  plan.whole_runs = !flags.ab_only;
  if (flags.trials > 0) plan.most_trials = flags.trials;
  if (!flags.effects.empty()) plan.effects = flags.effects;
  if (flags.subject == "suite") plan.subject = Subject::suite;
  if (flags.subject != "decode") return run_self_test_trials(plan);
  plan.subject = Subject::decode;
  const TemporaryPath folder;
  plan.folder = folder.path();
  return run_self_test_trials(plan);
}

Result<void> keep(const std::string& store, const std::string& body,
                  const std::string& fingerprint) {
  const auto name = store_named(store);
  if (name.empty()) return {};
  auto history = store::History::open(name, store::Access::write);
  if (!history) return fail_from(history);
  return history->add(store::History::SelfTestEntry{new_run_id(), utc_now(), fingerprint, body});
}

}  // namespace

int run_self_test(const Arguments& arguments) {
  CLI::App app("Measures false alarms and power of our own verdicts on this machine", "self-test");
  SelfTestFlags flags;
  app.add_option("--time", flags.time, "how long the trials go on (default: 60s)")
      ->check(duration_value());
  app.add_option("--seed", flags.seed, "seed of the order of turns (default: 42)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 53));
  app.add_flag("--load", flags.load, "with one busy process per CPU in the background");
  app.add_option("--format", flags.format, "human or json")
      ->check(CLI::IsMember({"human", "json"}));
  app.add_option("--output", flags.output, "where it goes (default: standard output)");
  app.add_option("--subject", flags.subject,
                 "kernel, suite (fifty kernels) or decode (a small model on all CPUs)")
      ->check(CLI::IsMember({"kernel", "suite", "decode"}));
  app.add_option("--effects", flags.effects, "shares of extra work, as 0,0.01 (default: 0 to 0.1)")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 10.0));
  app.add_option("--trials", flags.trials, "at most so many trials of each effect")
      ->check(CLI::PositiveNumber);
  app.add_flag("--ab-only", flags.ab_only, "leave out the methods that compare whole runs");
  app.add_option("--extra-work", flags.program.extra, "of a trial's program")->group("");
  app.add_option("--extra-sums", flags.program.extra_sums, "of a trial's program")->group("");
  app.add_flag("--one-run", flags.one_run, "of a trial's program")->group("");
  app.add_option("--model", flags.model, "of a trial's program")->group("");
  add_store_option(app, flags.store);
  if (const auto over = parse(app, arguments)) return *over;
  flags.program.model = flags.model;
  if (step_protocol_is_wanted())
    return serve_steps_on_standard_streams(self_test_definitions(flags.program));
  if (flags.one_run) {
    const auto run = one_run(flags.program);
    if (!run) return report_error(run.error());
    fmt::print("{}\n", *run);
    return kFine;
  }
  catch_stop_signals();
  const auto tallies = trials_of(flags);
  if (!tallies) return report_error(tallies.error());
  const auto fingerprint = read_environment().fingerprint;
  const auto json = json_text(*tallies, flags, fingerprint);
  const size_t width = flags.output.empty() && stdout_is_terminal() ? terminal_width() : 0;
  const auto delivered =
      deliver(flags.format == "json" ? json : human(*tallies, width), flags.output);
  if (!delivered) return report_error(delivered.error());
  if (auto kept = keep(flags.store, json, fingerprint); !kept) return report_error(kept.error());
  return stop_requested() ? kInterrupted : kFine;
}

}  // namespace trilobite::cli
