#include <fmt/format.h>

#include <algorithm>

#include "base/file.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/subcommands.hpp"
#include "cli/target_list.hpp"
#include "report/console.hpp"
#include "report/table.hpp"

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

struct Judged {
  Target target;
  TargetFigure figure;
  Outcome outcome;
};

void add_flags(CLI::App& app, TargetFlags& flags) {
  app.add_option("--report", flags.report,
                 "performance-report.json of `trilobite inference`, for the figures of a model");
  app.add_option("--comparison", flags.comparison,
                 "comparison-results.json of `trilobite crossval`, for those against an engine");
  app.add_option("--format", flags.format, "human or json")
      ->check(CLI::IsMember({"human", "json"}));
  app.add_option("--output", flags.output, "the answer goes into this file");
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

std::string limit_text(const Target& target) {
  return fmt::format("{} {:g} {}", target.at_least ? "at least" : "below", target.limit,
                     target.unit);
}

std::string to_text(const std::vector<Judged>& all) {
  Table table{{{"target", true}, {"wanted"}, {"measured"}, {"", true}}, {}};
  for (const auto& [target, figure, outcome] : all) {
    const auto style = outcome == Outcome::met      ? Style::good
                       : outcome == Outcome::missed ? Style::bad
                                                    : Style::quiet;
    table.rows.push_back(
        {{target.name},
         {limit_text(target)},
         {figure.value ? fmt::format("{:.3g} {}", *figure.value, target.unit) : "-"},
         {std::string(name_of(outcome)), style}});
  }
  auto text = render(table, terminal_width(), stdout_is_terminal());
  for (const auto& [target, figure, outcome] : all) {
    if (outcome == Outcome::unavailable)
      text += fmt::format("\n{}: unavailable, {}", target.name, figure.reason);
  }
  return text + "\n";
}

std::string to_json_text(const std::vector<Judged>& all) {
  Json list = Json::array();
  for (const auto& [target, figure, outcome] : all) {
    Json entry{{"name", target.name},
               {"limit", target.limit},
               {"at_least", target.at_least},
               {"unit", target.unit},
               {"measured", figure.value ? Json(*figure.value) : Json()},
               {"outcome", name_of(outcome)}};
    if (!figure.value) entry["reason"] = figure.reason;
    list.push_back(entry);
  }
  return Json{{"targets", list}}.dump(2) + "\n";
}

std::vector<Judged> judge(const TargetSources& sources) {
  std::vector<Judged> all;
  for (auto& target : all_targets()) {
    auto figure = target.figure(sources);
    const auto outcome = outcome_of(target, figure);
    all.push_back({std::move(target), std::move(figure), outcome});
  }
  return all;
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
  const auto run = measure(flags, arguments);
  if (!run) return report_error(run.error());
  const auto all = judge({.record = run->record,
                          .model = *model ? &**model : nullptr,
                          .comparison = *comparison ? &**comparison : nullptr});
  const auto text = flags.format == "json" ? to_json_text(all) : to_text(all);
  if (auto done = deliver(text, flags.output); !done) return report_error(done.error());
  if (const int code = exit_code_of(*run); code != kFine) return code;
  const bool missed = std::ranges::any_of(
      all, [](const Judged& judged) { return judged.outcome == Outcome::missed; });
  return flags.strict && missed ? kGateSaidNo : kFine;
}

}  // namespace trilobite::cli
