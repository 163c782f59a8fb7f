#include "cli/bench_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/exit_code.hpp"
#include "cli/formats.hpp"

namespace trilobite::cli {
namespace {

struct BenchFlags {
  Filter filter;
  RunOptions run;
  bool list = false;
  std::string output;
  std::string format = "human";
};

void add_bench_flags(CLI::App& app, BenchFlags& flags) {
  app.add_option("REGEX", flags.filter.pattern,
                 "run the benchmarks whose id matches anywhere (default: all)");
  app.add_option("--suite", flags.filter.suites, "only these suites; 'all' means every one")
      ->delimiter(',');
  app.add_flag("--list", flags.list, "print the ids and run nothing");
  app.add_option("--output", flags.output,
                 "where the result goes (default: the record to results/<run>.json)");
  app.add_option("--output-format", flags.format,
                 "human, json, csv, samples-csv, bencher or gbench")
      ->check(CLI::IsMember(format_names()));
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

}  // namespace

int run_bench(const Arguments& arguments, const ProgramFacts& program) {
  CLI::App app("Runs benchmarks: checked output, interleaved rounds, raw samples kept", "bench");
  BenchFlags flags;
  add_bench_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  std::erase(flags.filter.suites, "all");
  const auto plan = plan_from(flags.run, SamplingPlan());
  if (!plan) return report_error(plan.error());
  const auto selection = select_benchmarks(registered_benchmarks(), flags.filter);
  if (!selection) return report_error(selection.error());
  if (flags.list) {
    const auto listed = list_benchmarks(*selection);
    return listed ? kFine : report_error(listed.error());
  }
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
  return exit_code_of(*run);
}

}  // namespace trilobite::cli
