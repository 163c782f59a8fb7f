#include <fmt/format.h>

#include <map>

#include "cli/exit_code.hpp"
#include "cli/subcommands.hpp"
#include "record/record_json.hpp"
#include "report/console.hpp"

namespace trilobite::cli {
namespace {

std::string facts_about(const RunRecord& record) {
  std::map<std::string_view, size_t> by_status;
  size_t samples = 0;
  for (const auto& result : record.benchmarks) {
    ++by_status[name_of(result.status)];
    samples += result.samples_ns.size();
  }
  std::string text = fmt::format(
      "valid {}\nrun        {} ({}), {}\nmachine    {}, {} ({})\nprogram    trilobite {}, commit "
      "{}{}\nbenchmarks {}",
      kRecordSchema, record.id, record.started_at, record.complete ? "complete" : "not complete",
      record.environment.platform, record.environment.cpu.model, record.environment.fingerprint,
      record.version, record.git.commit.empty() ? "unknown" : record.git.commit.substr(0, 12),
      record.git.dirty ? " with changes" : "", record.benchmarks.size());
  for (const auto& [status, count] : by_status) text += fmt::format(", {} {}", count, status);
  return text + fmt::format("; {} raw samples, {} warnings\n", samples, record.warnings.size());
}

}  // namespace

int run_inspect(const Arguments& arguments) {
  CLI::App app("Checks a record and says what is in it", "inspect");
  std::string file;
  bool table = false;
  app.add_option("FILE", file, "a record written by bench or compare")->required();
  app.add_flag("--table", table, "show the results as bench does");
  if (const auto over = parse(app, arguments)) return *over;
  const auto record = load_record(file);
  if (!record) return report_error(record.error());
  auto text = facts_about(*record);
  if (table)
    text += "\n" + to_console(*record, {.color = stdout_is_terminal(), .width = terminal_width()});
  const auto printed = print(text);
  return printed ? kFine : report_error(printed.error());
}

}  // namespace trilobite::cli
