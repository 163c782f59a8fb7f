#include <fmt/format.h>

#include <set>

#include "base/file.hpp"
#include "cli/exit_code.hpp"
#include "cli/formats.hpp"
#include "cli/output.hpp"
#include "cli/report_output.hpp"
#include "cli/store_option.hpp"
#include "cli/subcommands.hpp"
#include "cli/trend_history.hpp"
#include "measure/clock.hpp"
#include "record/record_json.hpp"

namespace trilobite::cli {
namespace {

struct ReportFlags {
  std::vector<std::string> inputs;
  std::string baseline;
  std::string baseline_device;
  std::string store;
  std::string targets;
  bool other_machine = false;
  ReportForm form;
};

void add_report_flags(CLI::App& app, ReportFlags& flags) {
  app.add_option("--input", flags.inputs,
                 "records written by bench, compare or inference, separated by commas")
      ->required()
      ->delimiter(',');
  app.add_option("--output", flags.form.output,
                 "where it goes (default: standard output); .html, .md, .csv, .json, .xml (JUnit), "
                 ".prom say the format, .svg and .png go with --chart");
  app.add_option("--format", flags.form.format,
                 "human, json, csv, samples-csv, bencher, gbench, junit, prometheus, markdown or "
                 "html (default: by the ending of --output, else human)")
      ->check(CLI::IsMember(format_names()));
  app.add_option("--sections", flags.form.sections,
                 "of the HTML page, separated by commas (default: all that have something to say)")
      ->delimiter(',');
  app.add_option("--chart", flags.form.chart,
                 "one kind of chart as a picture: times, speedups, scaling, roofline, accuracy, "
                 "memory, latency, samples, regression or trend; with :TITLE one chart of them");
  app.add_option("--baseline", flags.baseline,
                 "verdicts against this: a record, a baseline file, or a name in the store");
  app.add_flag("--other-machine", flags.other_machine,
               "compare with the baseline although it is of another machine");
  app.add_option("--baseline-device", flags.baseline_device,
                 "speed-ups are against this device (default: reference if it was measured, else "
                 "the first)");
  app.add_option("--targets", flags.targets,
                 "the answer of `trilobite targets --output FILE.json`");
  app.add_option("--store", flags.store,
                 "adds the history of the benchmarks from this store: a SQLite file or "
                 "postgresql://...");
}

/// Names that tell the runs apart: those of the files, numbered where they are the same.
Result<std::vector<ReportSource>> load_sources(const std::vector<std::string>& paths) {
  std::vector<ReportSource> sources;
  std::set<std::string> names;
  for (const auto& path : paths) {
    auto record = load_record(path);
    if (!record) return fail_from(record);
    const auto stem = Path(path).stem().string();
    auto name = stem;
    for (int i = 2; !names.insert(name).second; ++i) name = fmt::format("{}-{}", stem, i);
    sources.push_back({std::move(name), *std::move(record)});
  }
  return sources;
}

Result<void> add_regression(const ReportFlags& flags, ReportData& data) {
  if (flags.baseline.empty()) return {};
  const auto baseline = load_pool(flags.baseline, flags.store);
  if (!baseline) return fail_from(baseline, "--baseline");
  auto current = baseline_of(data.sources.front().record);
  for (size_t i = 1; i < data.sources.size(); ++i) current.runs.push_back(data.sources[i].record);
  verdict::RegressionSettings settings;
  settings.other_machine = flags.other_machine;
  auto report = verdict::check_regression(*baseline, current, settings);
  if (!report) return fail_from(report, "--baseline");
  data.regression = *std::move(report);
  return {};
}

Result<void> add_targets(const ReportFlags& flags, ReportData& data) {
  if (flags.targets.empty()) return {};
  const auto text = read_file(flags.targets);
  if (!text) return fail_from(text, "--targets");
  auto targets = targets_from_json_text(*text);
  if (!targets) return fail_from(targets, "--targets " + flags.targets);
  data.targets = *std::move(targets);
  return {};
}

/// Only the history of what was measured; series of several machines are called "id @machine".
Result<void> add_history(const ReportFlags& flags, ReportData& data) {
  if (flags.store.empty()) return {};
  auto history = open_store(flags.store, store::Access::read);
  if (!history) return fail_from(history, "--store");
  auto trends = trends_in(*history, {}, {});
  if (!trends) return fail_from(trends, "--store");
  std::set<std::string> measured;
  for (const auto& source : data.sources) {
    for (const auto& result : source.record.benchmarks) measured.insert(result.id);
  }
  for (auto& trend : *trends) {
    const auto& name = trend.series.name;
    if (measured.contains(name) || measured.contains(name.substr(0, name.rfind(" @"))))
      data.trends.push_back(std::move(trend));
  }
  return {};
}

/// What only some forms can show is refused in the others instead of being left out.
Result<void> check_additions(const ReportFlags& flags) {
  const auto& form = flags.form;
  const bool is_page = form.format == "html" || form.format == "markdown";
  if (!flags.targets.empty() && !is_page) return fail("--targets is for html and markdown");
  if (is_page || !form.chart.empty()) return {};
  if (!flags.baseline.empty())
    return fail(fmt::format(
        "--baseline is for html, markdown and charts, not for {}; see `regression-check --format`",
        form.format));
  if (!flags.store.empty())
    return fail(fmt::format(
        "--store is for html, markdown and charts, not for {}; see `trend --format`", form.format));
  return {};
}

Result<void> make_report(ReportFlags& flags) {
  if (auto fine = check_form(flags.form, flags.inputs.size()); !fine) return fine;
  if (auto fine = check_additions(flags); !fine) return fine;
  auto sources = load_sources(flags.inputs);
  if (!sources) return fail_from(sources);
  auto data = report_data(*std::move(sources), flags.baseline_device);
  data.made_at = utc_now();
  if (!flags.baseline_device.empty() &&
      std::ranges::find(data.facets.devices, flags.baseline_device) == data.facets.devices.end()) {
    return fail(fmt::format("--baseline-device: '{}' is not among the measured devices: {}",
                            flags.baseline_device, fmt::join(data.facets.devices, ", ")));
  }
  if (auto added = add_regression(flags, data); !added) return added;
  if (auto added = add_history(flags, data); !added) return added;
  if (auto added = add_targets(flags, data); !added) return added;
  const auto text = written(data, flags.form);
  if (!text) return fail_from(text);
  return deliver(*text, flags.form.output);
}

}  // namespace

int run_report(const Arguments& arguments) {
  CLI::App app("Writes what was measured for people: an HTML page, other formats, charts",
               "report");
  ReportFlags flags;
  add_report_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  const auto done = make_report(flags);
  return done ? kFine : report_error(done.error());
}

}  // namespace trilobite::cli
