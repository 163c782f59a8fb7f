#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/parse_number.hpp"
#include "cli/exit_code.hpp"
#include "cli/inference_report.hpp"
#include "cli/measure_run.hpp"
#include "cli/run_options.hpp"
#include "cli/stop_signal.hpp"
#include "cli/subcommands.hpp"
#include "measure/build_info.hpp"
#include "measure/clock.hpp"
#include "measure/environment.hpp"
#include "measure/limit_loops.hpp"
#include "measure/noise.hpp"
#include "record/record_json.hpp"
#include "trilobite/version.hpp"

namespace trilobite::cli {
namespace {

struct InferenceFlags {
  InferencePlan plan;
  std::string timeout = "300";
  std::string batches = "1,2,4,8";
  std::string seed;
  Path output = "benchmark-results";
  bool json = false;
};

void add_flags(CLI::App& app, InferenceFlags& flags) {
  add_model_options(app, flags.plan.model);
  app.add_option("--tokens", flags.plan.tokens, "to generate in each iteration (default: 64)")
      ->check(CLI::Range(2, 1 << 20));
  app.add_option("--prompt-tokens", flags.plan.prompt_tokens, "of the prompt (default: 512)")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--iterations", flags.plan.iterations, "generations that count (default: 10)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--timeout", flags.timeout, "for everything (default: 300s)")
      ->check(duration_value());
  app.add_option("--batch", flags.batches, "sequences at once, or 0 for none (default: 1,2,4,8)");
  app.add_option("--seed", flags.seed, "of the prompt (default: BITNET_SEED, else 42)");
  app.add_option("--output", flags.output, "the folder of the files (default: benchmark-results)");
  app.add_flag("--json", flags.json, "print performance-report.json instead of a table");
}

Result<std::vector<size_t>> parse_batches(const std::string& text) {
  if (text == "0") return std::vector<size_t>();
  std::vector<size_t> batches;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const auto number = parse_int(std::string_view(text).substr(start, end - start));
    if (!number || *number < 1 || static_cast<size_t>(*number) > model::kMostSequences)
      return fail(fmt::format("--batch {}: numbers from 1 to {} such as 1,2,4,8, or 0", text,
                              model::kMostSequences));
    batches.push_back(static_cast<size_t>(*number));
    start = end + 1;
  }
  return batches;
}

Result<void> finish_plan(InferenceFlags& flags) {
  const auto seed = seed_from(flags.seed, flags.plan.seed);
  if (!seed) return fail_from(seed);
  flags.plan.seed = *seed;
  auto batches = parse_batches(flags.batches);
  if (!batches) return fail_from(batches);
  flags.plan.batches = *std::move(batches);
  flags.plan.timeout = parse_duration(flags.timeout).value();
  return check_writable(flags.output / "performance-report.json");
}

RunRecord begin_record(const Arguments& arguments, uint64_t seed) {
  const auto build = build_info();
  return {.id = new_run_id(),
          .started_at = utc_now(),
          .command = arguments.command_line,
          .version = std::string(version()),
          .git = {build.commit, build.dirty},
          .seed = seed,
          .isa = limit_loops_isa(),
          .environment = read_environment()};
}

void finish_record(RunRecord& record, const InferenceResult& result, const CpuTimes& before) {
  record.threads = result.threads;
  record.plan = {.samples = result.prefill_ns.size(), .rounds = 1};
  record.environment.steal_share = steal_share_between(before, read_cpu_times().value_or(before));
  record.warnings = doubts_about(record.environment, build_info());
  for (auto& doubt : doubts_about_steal(record.environment.steal_share))
    record.warnings.push_back(std::move(doubt));
  record.benchmarks = benchmarks_of(result, record.seed);
  record.complete = !result.timed_out;
  record.finished_at = utc_now();
}

/// comparison-results.json of a run on its own: what the output was compared with. `crossval`
/// writes the comparison with another engine.
Json comparison_json(const InferenceResult& result, const RunRecord& record) {
  return {{"timestamp", record.started_at},
          {"rust_implementation", metrics_of(result)},
          {"cpp_implementation", nullptr},
          {"reason", "no other engine was run; `trilobite crossval` does that"},
          {"correctness", to_report_json(result, record)["correctness"]}};
}

Json system_json(const RunRecord& record) {
  auto json = to_json(record.environment);
  Json warnings = Json::array();
  for (const auto& warning : record.warnings)
    warnings.push_back({{"message", warning.message}, {"advice", warning.advice}});
  json["warnings"] = warnings;
  return json;
}

Result<void> write_files(const Path& folder, const InferenceResult& result,
                         const RunRecord& record) {
  const std::vector<std::pair<std::string_view, std::string>> files{
      {"performance-report.json", json_document(to_report_json(result, record))},
      {"performance-report.md", to_report_markdown(result, record)},
      {"results.json", to_json_text(record)},
      {"comparison-results.json", json_document(comparison_json(result, record))},
      {"system-info.json", json_document(system_json(record))}};
  for (const auto& [name, text] : files) {
    if (auto written = write_file_atomically(folder / name, text); !written) return written;
  }
  return {};
}

}  // namespace

int run_inference(const Arguments& arguments) {
  CLI::App app("Measures a model: loading, prompts, generation, memory, correctness", "inference");
  InferenceFlags flags;
  add_flags(app, flags);
  if (const auto over = parse(app, arguments)) return *over;
  if (const auto ready = finish_plan(flags); !ready) return report_error(ready.error());
  catch_stop_signals();
  auto record = begin_record(arguments, flags.plan.seed);
  const auto before = read_cpu_times().value_or(CpuTimes());
  const auto result = measure_inference(flags.plan);
  if (!result) return report_error(result.error());
  finish_record(record, *result, before);
  if (const auto written = write_files(flags.output, *result, record); !written)
    return report_error(written.error());
  const auto text =
      flags.json ? json_document(to_report_json(*result, record))
                 : to_report_text(*result) + fmt::format("files: {}\n", flags.output.string());
  if (const auto printed = print(text); !printed) return report_error(printed.error());
  if (stop_requested()) return kInterrupted;
  return result->correctness.passed ? kFine : kGateSaidNo;
}

}  // namespace trilobite::cli
