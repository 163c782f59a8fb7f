#include "report/targets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/subcommands.hpp"
#include "cli/target_list.hpp"

namespace trilobite::cli {
namespace {

struct TargetFlags {
  std::string report;
  std::string comparison;
  std::string format = "human";
  std::string output;
  bool strict = false;
  RunOptions run;
};

void add_flags(CLI::App& app, TargetFlags& flags) {
  app.add_option("--report", flags.report,
                 "performance-report.json of `trilobite inference`, for the figures of a model");
  app.add_option("--comparison", flags.comparison,
                 "comparison-results.json of `trilobite crossval`, for those against an engine");
  app.add_option("--format", flags.format, "human or json")
      ->check(CLI::IsMember({"human", "json"}));
  app.add_option(
      "--output", flags.output,
      "the answer goes into this file, as JSON for `report --targets` when it ends in .json");
  app.add_flag("--strict", flags.strict, "exit with 1 when a target is missed");
  add_run_options(app, flags.run);
}

/// Null when no file is named.
Result<std::optional<Json>> read_optional(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  auto json = parse_json(*text);
  if (!json) return fail_from(json, fmt::format("'{}'", path));
  if (!json->is_object()) return fail(fmt::format("'{}' is not a JSON object", path));
  return *std::move(json);
}

std::vector<Target> judge(const TargetSources& sources) {
  std::vector<Target> all;
  for (auto& [target, find] : all_targets()) {
    auto figure = find(sources);
    target.measured = figure.value;
    target.reason = std::move(figure.reason);
    all.push_back(std::move(target));
  }
  return all;
}

std::string answer(const TargetFlags& flags, const std::vector<Target>& all) {
  if (flags.format == "json" || flags.output.ends_with(".json")) return to_json_text(all);
  return to_console(all, {.color = flags.output.empty() && stdout_is_terminal(),
                          .width = flags.output.empty() ? terminal_width() : 0});
}

Result<FinishedRun> measure(const TargetFlags& flags, const Arguments& arguments) {
  const auto plan = plan_from(flags.run, SamplingPlan());
  if (!plan) return fail_from(plan);
  const auto selection =
      select_benchmarks(registered_benchmarks(), {.pattern = kTargetPattern, .suites = {}});
  if (!selection) return fail_from(selection);
  return measure_run({.selection = *selection,
                      .plan = *plan,
                      .options = flags.run,
                      .command_line = arguments.command_line,
                      .record_path = Path("results") / (new_run_id() + ".json")},
                     engine_facts());
}

}  // namespace

int run_targets(const Arguments& arguments) {
  CLI::App app("Measures the figures the project set out to reach", "targets");
  TargetFlags flags;
  add_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  const auto model = read_optional(flags.report);
  if (!model) return report_error(model.error());
  const auto comparison = read_optional(flags.comparison);
  if (!comparison) return report_error(comparison.error());
  if (!flags.output.empty()) {
    if (auto writable = check_writable(flags.output); !writable)
      return report_error(writable.error());
  }
  const auto run = measure(flags, arguments);
  if (!run) return report_error(run.error());
  const auto all = judge({.record = run->record,
                          .model = *model ? &**model : nullptr,
                          .comparison = *comparison ? &**comparison : nullptr});
  if (auto done = deliver(answer(flags, all), flags.output); !done)
    return report_error(done.error());
  if (const int code = exit_code_of(*run); code != kFine) return code;
  const bool missed = std::ranges::find(all, TargetOutcome::missed, outcome_of) != all.end();
  return flags.strict && missed ? kGateSaidNo : kFine;
}

}  // namespace trilobite::cli
