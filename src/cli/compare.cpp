#include <fmt/format.h>

#include <algorithm>

#include "cli/compare_config.hpp"
#include "cli/compare_operations.hpp"
#include "cli/exit_code.hpp"
#include "cli/subcommands.hpp"
#include "record/record_json.hpp"
#include "report/comparison.hpp"
#include "report/console.hpp"
#include "report/csv.hpp"

namespace trilobite::cli {
namespace {

struct CompareFlags {
  std::string config;
  std::string output;
  std::string baseline;
  std::string format = "human";
  RunOptions run;
};

void add_compare_flags(CLI::App& app, CompareFlags& flags) {
  app.add_option("--config", flags.config,
                 "what to compare, as JSON (default: seven operations, two sizes)");
  app.add_option("--output", flags.output, "where the record goes (default: results/<run>.json)");
  app.add_option(
      "--baseline-device", flags.baseline,
      "speed-ups are against this device (default: reference if it takes part, else the first)");
  app.add_option("--output-format", flags.format, "what is printed: human, json, csv or markdown")
      ->check(CLI::IsMember({"human", "json", "csv", "markdown"}));
  add_run_options(app, flags.run);
}

SamplingPlan base_plan(const CompareConfig& config) {
  SamplingPlan plan;
  if (config.measurement_iterations) {
    plan.samples = *config.measurement_iterations;
    plan.samples_are_exact = true;
  }
  if (config.warmup_iterations) plan.warm_up_iterations = *config.warmup_iterations;
  if (config.timeout) plan.timeout = *config.timeout;
  return plan;
}

Result<std::string> choose_baseline(const std::string& asked,
                                    const std::vector<SelectedBenchmark>& selection) {
  const auto takes_part = [&](const std::string& name) {
    return std::ranges::any_of(
        selection, [&](const auto& benchmark) { return benchmark.parameters.device == name; });
  };
  if (!asked.empty()) {
    if (takes_part(asked)) return asked;
    return fail(fmt::format("--baseline-device: '{}' is not among the compared devices", asked));
  }
  return takes_part("reference") ? "reference" : selection.front().parameters.device;
}

std::string render(const CompareFlags& flags, const RunRecord& record,
                   const std::string& baseline) {
  const auto comparison = compare_devices(record, baseline);
  if (flags.format == "json") return json_document(to_json(comparison));
  if (flags.format == "csv") return to_csv(comparison);
  if (flags.format == "markdown") return to_markdown(comparison);
  return to_console(comparison, {.color = stdout_is_terminal(), .width = terminal_width()});
}

int finish(const CompareFlags& flags, const FinishedRun& run, const std::string& baseline,
           const Path& path) {
  auto text = render(flags, run.record, baseline);
  if (flags.format == "human") text += fmt::format("\nrecord: {}\n", path.string());
  if (auto printed = print(text); !printed) return report_error(printed.error());
  return exit_code_of(run);
}

}  // namespace

int run_compare(const Arguments& arguments) {
  CLI::App app("Runs the same operations on several devices and says which to use", "compare");
  CompareFlags flags;
  add_compare_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  const auto config = flags.config.empty() ? Result<CompareConfig>(CompareConfig())
                                           : load_compare_config(flags.config);
  if (!config) return report_error(config.error());
  const auto plan = plan_from(flags.run, base_plan(*config));
  if (!plan) return report_error(plan.error());
  const auto definitions = compare_definitions(*config);
  const auto selection = select_benchmarks(definitions, {});
  if (!selection) return report_error(selection.error());
  const auto baseline = choose_baseline(flags.baseline, *selection);
  if (!baseline) return report_error(baseline.error());
  const Path path =
      flags.output.empty() ? Path("results") / (new_run_id() + ".json") : Path(flags.output);
  const auto run = measure_run({.selection = *selection,
                                .plan = *plan,
                                .options = flags.run,
                                .command_line = arguments.command_line,
                                .record_path = path},
                               engine_facts());
  if (!run) return report_error(run.error());
  return finish(flags, *run, *baseline, path);
}

}  // namespace trilobite::cli
