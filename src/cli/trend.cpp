#include "verdict/trend.hpp"

#include <fmt/format.h>

#include "base/file.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/store_option.hpp"
#include "cli/subcommands.hpp"
#include "cli/trend_history.hpp"
#include "report/trend_report.hpp"

namespace trilobite::cli {
namespace {

struct TrendFlags {
  std::string input;
  std::string pattern;
  std::string store;
  std::string control;
  std::string output;
  std::string format = "human";
  double confidence = 0.95;
};

Result<verdict::Series> series_in(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  auto series = verdict::series_from_csv(*text, Path(path).stem().string());
  if (!series) return fail_from(series, path);
  return series;
}

Result<std::vector<verdict::Trend>> trends_of(const TrendFlags& flags) {
  verdict::ChangePointSettings settings;
  settings.confidence = flags.confidence;
  if (flags.input.empty()) {
    auto history = open_store(flags.store, store::Access::read);
    if (!history) return fail_from(history);
    return trends_in(*history, {flags.pattern, flags.control}, settings);
  }
  if (!flags.pattern.empty()) return fail("REGEX selects from the store; --input is one series");
  auto series = series_in(flags.input);
  if (!series) return fail_from(series);
  if (flags.control.empty())
    return std::vector{verdict::analyse_trend(*std::move(series), nullptr, settings)};
  const auto control = series_in(flags.control);
  if (!control) return fail_from(control, "--control");
  return std::vector{verdict::analyse_trend(*std::move(series), &*control, settings)};
}

std::string written(const TrendFlags& flags, const std::vector<verdict::Trend>& trends) {
  if (flags.format == "csv") return trend_csv(trends);
  if (flags.format == "svg") return trend_svg(trends);
  if (flags.format == "json")
    return flags.input.empty() ? trends_json(trends) : trend_json(trends.front());
  const bool on_terminal = flags.output.empty() && stdout_is_terminal();
  return trend_table(trends, flags.output.empty() ? terminal_width() : 0, on_terminal);
}

}  // namespace

int run_trend(const Arguments& arguments) {
  CLI::App app("Finds where a series changed its level, with size, interval and significance",
               "trend");
  TrendFlags flags;
  app.add_option("REGEX", flags.pattern,
                 "the benchmarks of the store whose id matches anywhere (default: all)");
  add_store_option(app, flags.store);
  app.add_option("--input", flags.input,
                 "instead of the store: a CSV file with a column 'value' (and 'time', 'commit'), "
                 "oldest first");
  app.add_option("--control", flags.control,
                 "what the code cannot change, measured in the same runs (the id of a benchmark; "
                 "with --input a CSV file of the same rows): tells steps of the machine from "
                 "steps of the code");
  app.add_option("--format", flags.format, "human, json, csv or svg")
      ->check(CLI::IsMember({"human", "json", "csv", "svg"}));
  app.add_option("--output", flags.output, "where it goes (default: standard output)");
  app.add_option("--confidence", flags.confidence, "of the interval of each step (default: 0.95)")
      ->check(CLI::Range(0.5, 0.9999));
  if (const auto over = parse(app, arguments)) return *over;
  const auto trends = trends_of(flags);
  if (!trends) return report_error(trends.error());
  const auto delivered = deliver(written(flags, *trends), flags.output);
  return delivered ? kFine : report_error(delivered.error());
}

}  // namespace trilobite::cli
