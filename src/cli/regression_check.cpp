#include <fmt/format.h>

#include "base/file.hpp"
#include "base/parse_number.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/store_option.hpp"
#include "cli/subcommands.hpp"
#include "measure/clock.hpp"
#include "measure/environment.hpp"
#include "record/record_json.hpp"
#include "report/regression_report.hpp"
#include "verdict/metric_file.hpp"

namespace trilobite::cli {
namespace {

using verdict::RegressionReport;
using verdict::RegressionSettings;

struct CheckFlags {
  std::string baseline;
  std::string current;
  std::optional<double> threshold;
  std::string platform;
  std::string format = "human";
  std::string output;
  std::string config;
  std::string store;
  bool fail_on_regression = false;
  bool other_machine = false;
};

/// Empty when the text is a threshold.
std::string threshold_problem(const std::string& text) {
  const auto value = parse_double(text);
  if (value && *value > 0 && *value < 1) return "";
  const std::string hint =
      value && *value >= 1 && *value < 100 ? fmt::format("; {} % is {:g}", text, *value / 100) : "";
  return fmt::format("'{}' must be above 0 and below 1{}", text, hint);
}

void add_check_flags(CLI::App& app, CheckFlags& flags) {
  app.add_option("--baseline", flags.baseline,
                 "a record, a baseline file, a file of single figures, or the name of a baseline "
                 "in the store (default: baseline_file of the configuration)");
  app.add_option("--current", flags.current, "what is compared with it: the same kinds")
      ->required();
  app.add_option("--threshold", flags.threshold,
                 "relative change that matters, 0.05 is 5 % (default: 0.05)")
      ->check(CLI::Validator(threshold_problem, ""));
  app.add_option("--platform", flags.platform,
                 "the platform whose figures count, e.g. linux-x86_64 (default: this one)");
  app.add_option("--format", flags.format, "human, json, junit or markdown")
      ->check(CLI::IsMember({"human", "json", "junit", "markdown"}));
  app.add_option("--output", flags.output, "where it goes (default: standard output)");
  app.add_option("--config", flags.config, "thresholds as JSON, docs/verdicts.md has the members");
  app.add_flag("--fail-on-regression", flags.fail_on_regression,
               "exit code 1 unless the status is AllPass");
  app.add_flag("--other-machine", flags.other_machine,
               "compare although the runs are of different machines");
  add_store_option(app, flags.store);
}

Result<RegressionSettings> settings_of(const CheckFlags& flags) {
  RegressionSettings settings;
  if (!flags.config.empty()) {
    const auto text = read_file(flags.config);
    if (!text) return fail_from(text);
    const auto json = parse_json(*text);
    if (!json) return fail_from(json, flags.config);
    auto read = verdict::settings_from_json(*json, settings);
    if (!read) return fail_from(read, flags.config);
    settings = *std::move(read);
  }
  if (flags.threshold) {
    settings.levels.least = *flags.threshold;
    settings.levels.critical = std::max(settings.levels.critical, *flags.threshold);
  }
  settings.other_machine = flags.other_machine;
  return settings;
}

/// The file as single figures; nothing when it is something else.
Result<std::optional<Json>> metric_file(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return std::nullopt;
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  auto json = parse_json(*text);
  if (!json) return fail_from(json, path);
  if (!verdict::is_metric_file(*json)) return std::nullopt;
  return *std::move(json);
}

Result<verdict::MetricTable> current_metrics(const CheckFlags& flags, const std::string& platform,
                                             const std::string& implementation) {
  const auto figures = metric_file(flags.current);
  if (!figures) return fail_from(figures);
  if (*figures) {
    auto table = verdict::metrics_in(**figures, platform);
    if (!table) return fail_from(table, flags.current);
    return table;
  }
  const auto record = load_record(flags.current);
  if (!record) return fail_from(record);
  if (record->environment.platform != platform) {
    return fail(fmt::format("{}: the record is of platform '{}', not '{}'", flags.current,
                            record->environment.platform, platform));
  }
  auto table = verdict::metrics_of_record(*record, implementation);
  if (!table) return fail_from(table, flags.current);
  return table;
}

Result<RegressionReport> check_figures(const CheckFlags& flags, const Json& baseline,
                                       RegressionSettings settings) {
  const auto platform = flags.platform.empty() ? read_environment().platform : flags.platform;
  for (const std::string_view name : {"thresholds", "alerts"}) {
    if (!baseline.contains(name)) continue;
    auto applied = verdict::apply_percent_thresholds(baseline.at(name), settings);
    if (!applied) return fail_from(applied, flags.baseline);
  }
  const auto before = verdict::metrics_in(baseline, platform);
  if (!before) return fail_from(before, flags.baseline);
  const auto after = current_metrics(flags, platform, before->begin()->first);
  if (!after) return fail_from(after);
  auto report = verdict::compare_metrics(*before, *after, settings);
  report.baseline_name = fmt::format("{} ({})", flags.baseline, platform);
  report.current_name = flags.current;
  return report;
}

Result<void> add_to_baseline(const CheckFlags& flags, const Baseline& current) {
  auto history = open_store(flags.store, store::Access::write);
  if (!history) return fail_from(history);
  return history->update(flags.baseline, [&](Baseline& baseline) -> Result<void> {
    for (const auto& run : current.runs) baseline.runs.push_back(run);
    baseline.updated_at = utc_now();
    return {};
  });
}

/// Only when the configuration asks for it and the run is known to be as good as the baseline.
void maybe_update_baseline(const CheckFlags& flags, const RegressionSettings& settings,
                           const Baseline& current, RegressionReport& report) {
  if (!settings.auto_update_baseline || report.status != verdict::Status::all_pass) return;
  if (const size_t open = report.count(verdict::Answer::undecided); open > 0) {
    report.remarks.push_back(
        fmt::format("auto_update_baseline: not added, {} metrics are undecided", open));
    return;
  }
  const auto added = add_to_baseline(flags, current);
  report.remarks.push_back(
      added ? fmt::format("the run was added to baseline '{}'", flags.baseline)
            : fmt::format("auto_update_baseline: not added, {}", added.error().message()));
}

Result<RegressionReport> check_runs(const CheckFlags& flags, const RegressionSettings& settings) {
  const auto baseline = load_pool(flags.baseline, flags.store);
  if (!baseline) return fail_from(baseline, "--baseline");
  const auto current = load_pool(flags.current, flags.store);
  if (!current) return fail_from(current, "--current");
  for (const auto* pool : {&*baseline, &*current}) {
    const auto& platform = pool->runs.front().environment.platform;
    if (!flags.platform.empty() && platform != flags.platform) {
      return fail(
          fmt::format("{} is of platform '{}', not '{}'", pool->id, platform, flags.platform));
    }
  }
  auto report = verdict::check_regression(*baseline, *current, settings);
  if (!report) return fail_from(report);
  maybe_update_baseline(flags, settings, *current, *report);
  return report;
}

std::string written(const CheckFlags& flags, const RegressionReport& report) {
  if (flags.format == "json") return regression_json(report);
  if (flags.format == "junit") return regression_junit(report);
  if (flags.format == "markdown") return regression_markdown(report);
  const bool on_terminal = flags.output.empty() && stdout_is_terminal();
  return regression_table(report, flags.output.empty() ? terminal_width() : 0, on_terminal);
}

Result<RegressionReport> checked(CheckFlags& flags) {
  const auto settings = settings_of(flags);
  if (!settings) return fail_from(settings);
  if (flags.baseline.empty()) flags.baseline = settings->baseline_file;
  if (flags.baseline.empty())
    return fail("--baseline is required (or baseline_file in the configuration)");
  const auto figures = metric_file(flags.baseline);
  if (!figures) return fail_from(figures);
  return *figures ? check_figures(flags, **figures, *settings) : check_runs(flags, *settings);
}

}  // namespace

int run_regression_check(const Arguments& arguments) {
  CLI::App app("Compares runs with a baseline: regressed, improved, equivalent or undecided",
               "regression-check");
  CheckFlags flags;
  add_check_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  const auto report = checked(flags);
  if (!report) return report_error(report.error());
  if (auto delivered = deliver(written(flags, *report), flags.output); !delivered)
    return report_error(delivered.error());
  const bool passed = report->status == verdict::Status::all_pass;
  return flags.fail_on_regression && !passed ? kGateSaidNo : kFine;
}

}  // namespace trilobite::cli
