#include "cli/bench_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/store_option.hpp"
#include "report/regression_report.hpp"

namespace trilobite::cli {
namespace {

struct BenchFlags {
  Filter filter;
  RunOptions run;
  bool list = false;
  std::string output;
  std::string format = "human";
  std::string save_baseline;
  std::string baseline;
};

void add_bench_flags(CLI::App& app, BenchFlags& flags) {
  app.add_option("REGEX", flags.filter.pattern,
                 "run the benchmarks whose id matches anywhere (default: all)");
  app.add_option("--suite", flags.filter.suites,
                 "only these suites, or sets of them; 'all' means every one")
      ->delimiter(',');
  app.add_flag("--list", flags.list, "print the ids and run nothing");
  app.add_option("--output", flags.output,
                 "where the result goes (default: the record to results/<run>.json)");
  app.add_option(
         "--output-format", flags.format,
         "human, json, csv, samples-csv, bencher, gbench, junit, prometheus, markdown or html")
      ->check(CLI::IsMember(format_names()));
  app.add_option("--save-baseline", flags.save_baseline,
                 "keep this run as the baseline of that name, instead of what it was");
  app.add_option("--baseline", flags.baseline,
                 "compare with that baseline of the store (or a file) afterwards");
  add_run_options(app, flags.run);
}

Result<void> list_benchmarks(const std::vector<SelectedBenchmark>& selection) {
  std::string text;
  for (const auto& benchmark : selection) text += benchmark.id + "\n";
  return print(text);
}

/// Where the record itself is kept while running: in --output when that is the record, under
/// results/ when the table goes to the terminal, nowhere when standard output is what the user
/// wants.
Path record_path_for(const BenchFlags& flags) {
  const bool is_record = flags.format == "human" || flags.format == "json";
  if (!flags.output.empty()) return is_record ? Path(flags.output) : Path();
  return flags.format == "human" ? Path("results") / (new_run_id() + ".json") : Path();
}

Result<void> deliver(const BenchFlags& flags, const RunRecord& record, const Path& record_path) {
  const auto text = find_format(flags.format)->write(record);
  if (flags.output.empty() && flags.format != "human") return print(text);
  if (record_path.empty()) {
    auto written = write_file_atomically(flags.output, text);
    if (!written) return written;
  }
  auto printed = print(find_format("human")->write(record));
  if (!printed) return printed;
  return print(fmt::format("\n{}: {}\n", record_path.empty() ? flags.format : "record",
                           record_path.empty() ? flags.output : record_path.string()));
}

Result<void> save_baseline(const BenchFlags& flags, const RunRecord& record) {
  auto history = open_store(flags.run.store, store::Access::write);
  if (!history) return fail_from(history);
  Baseline baseline = baseline_of(record);
  baseline.id = flags.save_baseline;
  if (auto sound = check_baseline(baseline); !sound) return sound;
  if (!history->baseline(baseline.id)) return history->create(baseline);
  return history->update(baseline.id, [&](Baseline& old) -> Result<void> {
    old.runs = std::move(baseline.runs);
    old.updated_at = record.finished_at;
    return {};
  });
}

/// Names of baselines that cannot work are told before hours of work.
Result<void> check_baseline_flags(const BenchFlags& flags) {
  if (!flags.baseline.empty()) {
    if (auto pool = load_pool(flags.baseline, flags.run.store); !pool)
      return fail_from(pool, "--baseline");
  }
  if (!flags.save_baseline.empty() && store_named(flags.run.store).empty())
    return fail("--save-baseline needs a store, and the store is 'none'");
  if (flags.save_baseline.empty()) return {};
  return check_baseline_name(flags.save_baseline);
}

Result<void> use_baselines(const BenchFlags& flags, const RunRecord& record) {
  if (!flags.baseline.empty()) {
    const auto baseline = load_pool(flags.baseline, flags.run.store);
    if (!baseline) return fail_from(baseline, "--baseline");
    const auto report = verdict::check_regression(*baseline, baseline_of(record), {});
    if (!report) return fail_from(report, "--baseline");
    auto printed = print("\n" + regression_table(*report, terminal_width(), stdout_is_terminal()));
    if (!printed) return printed;
  }
  return flags.save_baseline.empty() ? Result<void>() : save_baseline(flags, record);
}

/// Names of sets become the names of their suites; "all" becomes no filter at all.
std::vector<std::string> expand_suite_sets(
    const std::vector<std::string>& asked,
    const std::map<std::string, std::vector<std::string>>& sets) {
  if (std::ranges::find(asked, "all") != asked.end()) return {};
  std::vector<std::string> suites;
  for (const auto& name : asked) {
    const auto set = sets.find(name);
    if (set == sets.end()) {
      suites.push_back(name);
    } else {
      suites.insert(suites.end(), set->second.begin(), set->second.end());
    }
  }
  return suites;
}

}  // namespace

int run_bench(const Arguments& arguments, const ProgramFacts& program) {
  CLI::App app("Runs benchmarks: checked output, interleaved rounds, raw samples kept", "bench");
  BenchFlags flags;
  add_bench_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  flags.filter.suites = expand_suite_sets(flags.filter.suites, program.suite_sets);
  const auto plan = plan_from(flags.run, SamplingPlan());
  if (!plan) return report_error(plan.error());
  const auto selection = select_benchmarks(registered_benchmarks(), flags.filter);
  if (!selection) return report_error(selection.error());
  if (flags.list) {
    const auto listed = list_benchmarks(*selection);
    return listed ? kFine : report_error(listed.error());
  }
  if (auto usable = check_baseline_flags(flags); !usable) return report_error(usable.error());
  const Path record_path = record_path_for(flags);
  if (!flags.output.empty()) {
    if (auto writable = check_writable(flags.output); !writable)
      return report_error(writable.error());
  }
  const auto run = measure_run({.selection = *selection,
                                .plan = *plan,
                                .options = flags.run,
                                .command_line = arguments.command_line,
                                .record_path = record_path},
                               program);
  if (!run) return report_error(run.error());
  if (auto delivered = deliver(flags, run->record, record_path); !delivered)
    return report_error(delivered.error());
  if (auto used = use_baselines(flags, run->record); !used) return report_error(used.error());
  return exit_code_of(*run);
}

}  // namespace trilobite::cli
