#include "cli/target_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trilobite::cli {
namespace {

using Figure = std::function<TargetFigure(const TargetSources&)>;

constexpr const char* kNoModel =
    "no model was measured: run `trilobite inference -m FILE` and pass its "
    "performance-report.json with --report";

const BenchmarkResult* find_result(const RunRecord& record, const std::string& id) {
  const auto found = std::ranges::find(record.benchmarks, id, &BenchmarkResult::id);
  return found == record.benchmarks.end() ? nullptr : &*found;
}

/// What `read` finds in the result of a benchmark that ran.
template <typename Read>
Figure from_benchmark(std::string id, Read read) {
  return [id, read](const TargetSources& sources) -> TargetFigure {
    const auto* result = find_result(sources.record, id);
    if (result == nullptr) return {.reason = fmt::format("{} was not measured", id)};
    if (result->status != Status::ok || !result->statistics)
      return {.reason = fmt::format("{}: {}", id,
                                    result->reason.empty() ? "no samples" : result->reason)};
    const std::optional<double> value = read(*result);
    if (!value || !std::isfinite(*value))
      return {.reason = fmt::format("{} did not give this figure", id)};
    return {.value = value};
  };
}

/// Nanoseconds of one benchmark as a share of those of another, in percent.
Figure share_of(std::string id, std::string of) {
  return [id, of](const TargetSources& sources) -> TargetFigure {
    const auto median = [](const BenchmarkResult& result) { return result.statistics->median; };
    const auto part = from_benchmark(id, median)(sources);
    const auto whole = from_benchmark(of, median)(sources);
    if (!part.value) return part;
    if (!whole.value) return whole;
    return {.value = 100 * *part.value / *whole.value};
  };
}

Figure from_figure(std::string id, std::string name) {
  return from_benchmark(id, [name](const BenchmarkResult& result) -> std::optional<double> {
    const auto found = result.figures.find(name);
    return found == result.figures.end() ? std::nullopt : std::optional(found->second);
  });
}

Figure from_model(std::string name, double factor = 1) {
  return [name, factor](const TargetSources& sources) -> TargetFigure {
    if (sources.model == nullptr) return {.reason = kNoModel};
    const auto metrics = sources.model->find("rust_implementation");
    if (metrics == sources.model->end() || !metrics->is_object() || !metrics->contains(name) ||
        !(*metrics)[name].is_number())
      return {.reason = fmt::format("the report of the model has no {}", name)};
    return {.value = factor * (*metrics)[name].get<double>()};
  };
}

/// From the ratio of our median to the other engine's.
template <typename Convert>
Figure from_comparison(std::string name, Convert convert) {
  return [name, convert](const TargetSources& sources) -> TargetFigure {
    if (sources.comparison == nullptr)
      return {.reason =
                  "no other engine was measured: run `trilobite crossval` and pass its "
                  "comparison-results.json with --comparison"};
    const auto ratios = sources.comparison->find("ratio_ours_to_theirs");
    if (ratios == sources.comparison->end() || !ratios->is_object() || !ratios->contains(name) ||
        !(*ratios)[name].is_object() || !(*ratios)[name].value("median", Json()).is_number())
      return {.reason = fmt::format("the comparison has no ratio of {}", name)};
    return {.value = convert((*ratios)[name]["median"].get<double>())};
  };
}
double itself(double ratio) { return ratio; }
double percent_below(double ratio) { return 100 * (1 - ratio); }

Figure never(std::string reason) {
  return [reason](const TargetSources&) -> TargetFigure { return {.reason = reason}; };
}

double gigaflops(const BenchmarkResult& result) { return result.throughput.flops * 1e-9; }
double gigabytes(const BenchmarkResult& result) { return result.throughput.bytes * 1e-9; }

}  // namespace

const char* const kTargetPattern =
    "^(matmul/matmul/f32/cpu/1024x1024(/layout=dense)?$|large_arrays/(add|sum)/f32/cpu/|"
    "memory/(allocate|fill)/f32/-/1024x1024/|memory/long_use/)";

std::vector<WantedTarget> all_targets() {
  const std::string no_cuda = "no CUDA device computes here";
  return {
      {{"matmul 1024x1024, f32", 100, true, "GFLOP/s"},
       from_benchmark("matmul/matmul/f32/cpu/1024x1024/layout=dense", gigaflops)},
      {{"element-wise add, large arrays", 10, true, "GB/s"},
       from_benchmark("large_arrays/add/f32/cpu/8192x8192", gigabytes)},
      {{"sum, large arrays", 5, true, "GB/s"},
       from_benchmark("large_arrays/sum/f32/cpu/8192x8192", gigabytes)},
      {{"allocation of a 4 MB tensor, of filling it", 1, false, "%"},
       share_of("memory/allocate/f32/-/1024x1024/from=pool",
                "memory/fill/f32/-/1024x1024/from=system")},
      {{"fragmentation after long use", 5, false, "%"},
       from_figure("memory/long_use/f32/-/-", "fragmentation_percent")},
      {{"L1 hit rate", 90, true, "%"},
       never("hardware counters are not read; `trilobite env` says whether there are any")},
      {{"decode", 125, true, "tokens/s"}, from_model("decode_tokens_per_second")},
      {{"latency per token, P50", 90, false, "ms"}, from_model("latency_p50_ms")},
      {{"peak memory", 1.1, false, "GB"}, from_model("memory_usage_mb", 1e-3)},
      {{"accuracy (cosine to the reference)", 99.8, true, "%"}, from_model("accuracy_score", 100)},
      {{"throughput against another engine", 1.15, true, "x"},
       from_comparison("decode_tokens_per_second", itself)},
      {{"memory below another engine", 11, true, "%"},
       from_comparison("peak_resident_mb", percent_below)},
      {{"load time below another engine", 34, true, "%"},
       from_comparison("process_to_first_token_ms", percent_below)},
      {{"CUDA, of the theoretical peak", 80, true, "%"}, never(no_cuda)},
      {{"PCIe transfer, of the link", 90, true, "%"}, never(no_cuda)},
      {{"several GPUs, efficiency", 80, true, "%"}, never(no_cuda)}};
}

}  // namespace trilobite::cli
