#include "cli/inference_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/time_statistics.hpp"
#include "report/human_units.hpp"
#include "report/markdown_text.hpp"
#include "report/table.hpp"
#include "stats/describe.hpp"

namespace trilobite::cli {
namespace {

constexpr double kNsPerMs = 1e6;

std::optional<stats::Sample> sample_of(const std::vector<double>& values) {
  auto sample = stats::Sample::from(values);
  return sample ? std::optional(*std::move(sample)) : std::nullopt;
}

std::optional<double> median_of(const std::vector<double>& values) {
  const auto sample = sample_of(values);
  return sample ? std::optional(stats::median(*sample)) : std::nullopt;
}

std::optional<double> percentile_of(const std::vector<double>& values, double percent) {
  const auto sample = sample_of(values);
  return sample ? std::optional(stats::percentile(*sample, percent)) : std::nullopt;
}

std::optional<double> mean_of(const std::vector<double>& values) {
  const auto sample = sample_of(values);
  return sample ? std::optional(stats::mean(*sample)) : std::nullopt;
}

std::optional<double> scaled(std::optional<double> value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

/// `count` things in the median time.
std::optional<double> rate(size_t count, const std::vector<double>& times_ns) {
  const auto median = median_of(times_ns);
  return median && count > 0 ? std::optional(static_cast<double>(count) * 1e9 / *median)
                             : std::nullopt;
}

std::vector<double> ready_times(const std::vector<LoadTime>& loads) {
  std::vector<double> times;
  for (const auto& load : loads) times.push_back(load.ready_ns);
  return times;
}

std::vector<double> first_token_times(const std::vector<LoadTime>& loads) {
  std::vector<double> times;
  for (const auto& load : loads) times.push_back(load.first_token_ns);
  return times;
}

/// Time at the bandwidth / time measured.
std::optional<double> roofline_share(const InferenceResult& result,
                                     std::optional<double> bandwidth) {
  const auto token = median_of(result.token_ns);
  if (!token || !bandwidth) return std::nullopt;
  return result.bytes_per_token / *bandwidth * 1e9 / *token;
}

std::optional<double> best_bandwidth(const InferenceResult& result) {
  return result.bandwidth.empty() ? std::nullopt
                                  : std::optional(std::ranges::max(result.bandwidth));
}

/// Of one CPU: 200 when two are busy all the time.
std::optional<double> cpu_percent(const InferenceResult& result) {
  return result.wall_seconds > 0 ? std::optional(100 * result.cpu_seconds / result.wall_seconds)
                                 : std::nullopt;
}

std::optional<double> megabytes(std::optional<uint64_t> bytes) {
  return bytes ? std::optional(static_cast<double>(*bytes) / 1e6) : std::nullopt;
}

bool is_checked(const InferenceResult& result) { return result.correctness.positions > 0; }

struct Metric {
  std::string name;
  std::optional<double> value;
};

std::vector<Metric> all_metrics(const InferenceResult& result) {
  const auto ms = [](std::optional<double> ns) { return scaled(ns, 1 / kNsPerMs); };
  const bool causal = result.is_causal;
  const auto& latency = causal ? result.token_ns : result.prefill_ns;
  const size_t generated = causal ? result.tokens : 0;
  const auto decode = rate(1, result.token_ns);
  const auto prefill = rate(result.prompt_tokens, result.prefill_ns);
  return {
      {"throughput_tokens_per_second", causal && decode ? decode : prefill},
      {"decode_tokens_per_second", decode},
      {"prefill_tokens_per_second", prefill},
      {"generation_tokens_per_second", rate(generated, result.generation_ns)},
      {"latency_p50_ms", ms(percentile_of(latency, 50))},
      {"latency_p95_ms", ms(percentile_of(latency, 95))},
      {"latency_p99_ms", ms(percentile_of(latency, 99))},
      {"first_token_latency_ms", ms(median_of(result.prefill_ns))},
      {"average_inference_time_ms", ms(mean_of(causal ? result.generation_ns : result.prefill_ns))},
      {"model_load_cold_ms", ms(median_of(ready_times(result.cold)))},
      {"model_load_warm_ms", ms(median_of(ready_times(result.warm)))},
      {"load_to_first_token_cold_ms", ms(median_of(first_token_times(result.cold)))},
      {"load_to_first_token_warm_ms", ms(median_of(first_token_times(result.warm)))},
      {"memory_usage_mb", megabytes(result.peak_resident_bytes)},
      {"cpu_utilization_percent", cpu_percent(result)},
      {"bytes_per_token", causal ? std::optional(result.bytes_per_token) : std::nullopt},
      {"read_bandwidth_gb_per_second", scaled(best_bandwidth(result), 1e-9)},
      {"roofline_share", roofline_share(result, best_bandwidth(result))},
      {"roofline_share_of_median_bandwidth", roofline_share(result, median_of(result.bandwidth))},
      {"accuracy_score",
       is_checked(result) ? std::optional(result.correctness.cosine) : std::nullopt},
  };
}

Json memory_json(const InferenceResult& result) {
  return {{"mapped_weights", result.memory.mapped_weights},
          {"packed_weights", result.memory.packed_weights},
          {"kv_cache", result.memory.kv_cache},
          {"scratch", result.memory.scratch}};
}

/// That one step of a batch brings forward.
size_t tokens_of_step(const InferenceResult& result, const BatchSpeed& batch) {
  return batch.sequences * (result.is_causal ? 1 : result.prompt_tokens);
}

Json batches_json(const InferenceResult& result) {
  Json json = Json::array();
  for (const auto& batch : result.batches) {
    const auto speed = rate(tokens_of_step(result, batch), batch.step_ns);
    Json one{{"sequences", batch.sequences},
             {"tokens_per_second", speed ? Json(*speed) : Json()},
             {"steps", batch.step_ns.size()}};
    if (!batch.unavailable.empty()) one["unavailable"] = batch.unavailable;
    json.push_back(std::move(one));
  }
  return json;
}

Json correctness_json(const Correctness& check) {
  Json json{{"passed", check.passed},
            {"reference", check.reference},
            {"positions", check.positions},
            {"least_cosine", check.positions > 0 ? number_or_null(check.cosine) : Json()},
            {"top_token_agreement", check.top_token_share},
            {"max_abs_error", number_or_null(check.max_error)}};
  if (!check.unavailable.empty()) json["reference_model_unavailable"] = check.unavailable;
  return json;
}

/// Two columns: what, and how much.
std::vector<std::pair<std::string, std::string>> summary_lines(const InferenceResult& result) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [name, value] : all_metrics(result)) {
    auto text = value ? fmt::format("{:.4g}", *value) : std::string("not measured");
    if (name.ends_with("_cold_ms") && !value && !result.cold_unavailable.empty())
      text = "unavailable: " + result.cold_unavailable;
    lines.emplace_back(name, std::move(text));
  }
  for (const auto& batch : result.batches) {
    const auto speed = rate(tokens_of_step(result, batch), batch.step_ns);
    lines.emplace_back(fmt::format("tokens_per_second, batch {}", batch.sequences),
                       !batch.unavailable.empty() ? "unavailable: " + batch.unavailable
                       : speed                    ? fmt::format("{:.4g}", *speed)
                                                  : "not measured");
  }
  const auto& check = result.correctness;
  lines.emplace_back("correctness",
                     is_checked(result)
                         ? fmt::format("{}: least cosine {:.6f} over {} positions, beside {}",
                                       check.passed ? "passed" : "FAILED", check.cosine,
                                       check.positions, check.reference)
                         : "FAILED, unavailable: " + check.unavailable);
  return lines;
}

std::string headline(const InferenceResult& result) {
  return fmt::format(
      "{}: {} with {} parameters ({}), {} threads, prompt of {} tokens, {} generated, {} "
      "iterations{}",
      result.name, result.architecture, result.parameters, result.types, result.threads,
      result.prompt_tokens, result.tokens, result.prefill_ns.size(),
      result.timed_out ? " (out of time)" : "");
}

}  // namespace

Json metrics_of(const InferenceResult& result) {
  Json json = Json::object();
  for (const auto& [name, value] : all_metrics(result))
    json[name] = value ? number_or_null(*value) : Json();
  return json;
}

Json to_report_json(const InferenceResult& result, const RunRecord& record) {
  Json kernels = Json::object();
  for (const auto& [name, count] : result.kernels) kernels[name] = count;
  Json json{{"timestamp", record.started_at},
            {"version", record.version},
            {"commit", record.git.commit},
            {"platform", record.environment.platform},
            {"run", record.id}};
  json["model"] = {{"file", result.file},
                   {"name", result.name},
                   {"architecture", result.architecture},
                   {"types", result.types},
                   {"parameters", result.parameters},
                   {"file_bytes", result.file_bytes}};
  json["settings"] = {{"threads", result.threads},
                      {"context", result.context},
                      {"prompt_tokens", result.prompt_tokens},
                      {"tokens", result.tokens},
                      {"iterations", result.prefill_ns.size()},
                      {"kv_cache", result.kv_type},
                      {"timed_out", result.timed_out}};
  json["rust_implementation"] = metrics_of(result);
  json["memory_bytes"] = memory_json(result);
  json["kernels"] = kernels;
  json["batches"] = batches_json(result);
  json["correctness"] = correctness_json(result.correctness);
  if (!result.cold_unavailable.empty()) json["cold_load_unavailable"] = result.cold_unavailable;
  Json warnings = Json::array();
  for (const auto& warning : record.warnings) warnings.push_back(warning.message);
  json["warnings"] = warnings;
  return json;
}

std::string to_report_text(const InferenceResult& result) {
  auto text = headline(result) + "\n";
  for (const auto& [name, value] : summary_lines(result))
    text += fmt::format("  {:<36} {}\n", name, value);
  return text;
}

std::string to_report_markdown(const InferenceResult& result, const RunRecord& record) {
  auto text = fmt::format("# Inference of {}\n\n{}\n\n", markdown_text(result.name),
                          markdown_text(headline(result)));
  text += fmt::format("{}, {}, commit {}{}, {}\n\n", markdown_text(record.environment.cpu.model),
                      record.environment.platform, record.git.commit.substr(0, 12),
                      record.git.dirty ? " with changes" : "", record.started_at);
  text += markdown_row({"metric", "value"}) + markdown_row({"---", "---"});
  for (const auto& [name, value] : summary_lines(result))
    text += markdown_row({markdown_text(name), markdown_text(value)});
  text += "\n" + markdown_row({"memory", "bytes"}) + markdown_row({"---", "---"});
  const auto memory = memory_json(result);
  for (const auto& [name, bytes] : memory.items())
    text += markdown_row({markdown_text(name), human_bytes(bytes.get<double>())});
  text += "\n";
  for (const auto& warning : record.warnings)
    text += fmt::format("- {}\n", markdown_text(warning.message));
  return text;
}

namespace {

struct SampleSet {
  std::string operation;
  const std::vector<double>& samples;
  WorkDone work;
  std::map<std::string, std::string> parameters;
};

BenchmarkResult named_benchmark(const InferenceResult& result, const SampleSet& set) {
  BenchmarkResult benchmark{.suite = "inference",
                            .operation = set.operation,
                            .dtype = result.types.substr(0, result.types.find(',')),
                            .device = "cpu",
                            .shape = result.name,
                            .parameters = set.parameters};
  benchmark.id =
      fmt::format("inference/{}/{}/cpu/{}", set.operation, benchmark.dtype, benchmark.shape);
  for (const auto& [name, value] : set.parameters)
    benchmark.id += fmt::format("/{}={}", name, value);
  return benchmark;
}

BenchmarkResult benchmark_of(const InferenceResult& result, const SampleSet& set, uint64_t seed) {
  auto benchmark = named_benchmark(result, set);
  benchmark.iterations_per_sample = 1;
  benchmark.samples_ns = set.samples;
  benchmark.samples_per_round = {set.samples.size()};
  benchmark.work = set.work;
  benchmark.statistics = statistics_of(set.samples, seed);
  benchmark.throughput = throughput_of(set.work, benchmark.statistics->median);
  return benchmark;
}

}  // namespace

std::vector<BenchmarkResult> benchmarks_of(const InferenceResult& result, uint64_t seed) {
  std::vector<BenchmarkResult> benchmarks;
  using Parameters = std::map<std::string, std::string>;
  const auto add = [&](const char* operation, const std::vector<double>& samples,
                       const WorkDone& work = {}, const Parameters& parameters = {}) {
    if (!samples.empty())
      benchmarks.push_back(benchmark_of(result, {operation, samples, work, parameters}, seed));
  };
  const auto number = [](size_t value) { return std::to_string(value); };
  const Parameters lengths{{"prompt", number(result.prompt_tokens)},
                           {"tokens", number(result.tokens)}};
  add("load-cold", ready_times(result.cold));
  add("load-warm", ready_times(result.warm));
  add("load-to-first-token-cold", first_token_times(result.cold));
  add("load-to-first-token-warm", first_token_times(result.warm));
  add("prefill", result.prefill_ns, {.tokens = static_cast<double>(result.prompt_tokens)},
      {{"prompt", number(result.prompt_tokens)}});
  add("decode", result.token_ns, {.bytes_read = result.bytes_per_token, .tokens = 1}, lengths);
  add("generate", result.generation_ns, {.tokens = static_cast<double>(result.tokens)}, lengths);
  for (const auto& batch : result.batches) {
    const WorkDone work{.tokens = static_cast<double>(tokens_of_step(result, batch))};
    const Parameters parameters{{"sequences", number(batch.sequences)}};
    add("batch", batch.step_ns, work, parameters);
    if (batch.unavailable.empty()) continue;
    auto failed = named_benchmark(result, {"batch", batch.step_ns, work, parameters});
    failed.status = Status::failed;
    failed.reason = batch.unavailable;
    benchmarks.push_back(std::move(failed));
  }
  return benchmarks;
}

}  // namespace trilobite::cli
