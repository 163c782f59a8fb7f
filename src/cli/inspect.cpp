#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "cli/exit_code.hpp"
#include "cli/inspect_model.hpp"
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

namespace {

int inspect_record(const std::string& file, bool table) {
  const auto record = load_record(file);
  if (!record) return report_error(record.error());
  auto text = facts_about(*record);
  if (table)
    text += "\n" + to_console(*record, {.color = stdout_is_terminal(), .width = terminal_width()});
  const auto printed = print(text);
  return printed ? kFine : report_error(printed.error());
}

}  // namespace

int run_inspect(const Arguments& arguments) {
  CLI::App app("Checks a record or a GGUF model file and says what is in it", "inspect");
  std::string file;
  bool table = false;
  ModelInspection model;
  app.add_option("FILE", file, "a record written by bench or compare, or a GGUF file")->required();
  app.add_flag("--table", table, "of a record: show the results as bench does");
  app.add_flag("--tensors", model.tensors, "of a model: list every tensor");
  app.add_flag("--deep", model.deep,
               "of a model: read every weight and look for what is no number");
  app.add_flag("--json", model.json, "of a model: everything as JSON");
  if (const auto over = parse(app, arguments)) return *over;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored) && std::filesystem::is_empty(file, ignored))
    return report_error(Error(file + ": the file is empty, neither GGUF nor a record in JSON"));
  return is_model_file(file) ? inspect_model(file, model) : inspect_record(file, table);
}

}  // namespace trilobite::cli
