#include <cmath>

#include "record/record_json.hpp"

namespace trilobite {
namespace {

/// JSON has no NaN or infinity; a figure that does not exist is null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const Warning& warning) {
  Json json{{"code", warning.code}, {"message", warning.message}, {"advice", warning.advice}};
  if (!warning.benchmark.empty()) json["benchmark"] = warning.benchmark;
  return json;
}

Json to_json(const TimeStatistics& s) {
  return {{"median", number(s.median)},
          {"mean", number(s.mean)},
          {"sd", number(s.sd)},
          {"mad", number(s.mad)},
          {"min", number(s.min)},
          {"max", number(s.max)},
          {"p50", number(s.p50)},
          {"p95", number(s.p95)},
          {"p99", number(s.p99)},
          {"median_ci95", {number(s.median_ci95.low), number(s.median_ci95.high)}},
          {"outliers",
           {{"low_severe", s.outliers.low_severe},
            {"low_mild", s.outliers.low_mild},
            {"high_mild", s.outliers.high_mild},
            {"high_severe", s.outliers.high_severe}}}};
}

Json to_json(const LimitShare& limit) {
  return {{"limit", limit.limit},
          {"value", number(limit.value)},
          {"unit", limit.unit},
          {"share", number(limit.share)}};
}

Json to_json(const MemoryUse& memory) {
  return {{"allocated_bytes", memory.allocated_bytes},
          {"peak_bytes", memory.peak_bytes},
          {"allocations", memory.allocations}};
}

Json to_json(const CheckOutcome& check) {
  return {{"reference", check.reference},
          {"max_error", number(check.max_error)},
          {"tolerance", number(check.tolerance)},
          {"cosine", check.cosine ? number(*check.cosine) : Json(nullptr)},
          {"passed", check.passed}};
}

Json to_json(const WorkDone& work) {
  return {{"elements", work.elements},
          {"bytes_read", work.bytes_read},
          {"bytes_written", work.bytes_written},
          {"items", work.items},
          {"tokens", work.tokens},
          {"flops", work.flops},
          {"compute", work.compute}};
}

/// Only the figures that apply.
Json to_json(const Throughput& throughput) {
  Json json = Json::object();
  const auto add = [&](const char* name, double value) {
    if (value != 0) json[name] = number(value);
  };
  add("elements_per_second", throughput.elements);
  add("bytes_per_second", throughput.bytes);
  add("items_per_second", throughput.items);
  add("tokens_per_second", throughput.tokens);
  add("flops_per_second", throughput.flops);
  return json;
}

Json to_json(const Disturbance& disturbance) {
  return {{"by_steal", disturbance.by_steal},
          {"by_context_switch", disturbance.by_context_switch},
          {"by_major_fault", disturbance.by_major_fault},
          {"retaken", disturbance.retaken},
          {"kept", disturbance.kept}};
}

Json to_json(const CpuInfo& cpu) {
  Json caches = Json::array();
  for (const auto& cache : cpu.caches) {
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"size_bytes", cache.size_bytes},
                      {"shared_by", cache.shared_by}});
  }
  return {{"architecture", cpu.architecture},
          {"vendor", cpu.vendor},
          {"model", cpu.model},
          {"logical_cpus", cpu.logical_cpus},
          {"physical_cores", cpu.physical_cores},
          {"sockets", cpu.sockets},
          {"numa_nodes", cpu.numa_nodes},
          {"features", cpu.features},
          {"caches", std::move(caches)}};
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? to_json(*value) : Json(nullptr);
}

Json header_of(const RunRecord& record) {
  Json json{{"schema", kRecordSchema},
            {"id", record.id},
            {"started_at", record.started_at},
            {"finished_at", record.finished_at},
            {"complete", record.complete},
            {"command", record.command},
            {"version", record.version},
            {"git", {{"commit", record.git.commit}, {"dirty", record.git.dirty}}},
            {"seed", record.seed},
            {"deterministic", record.deterministic},
            {"threads", record.threads},
            {"isa", record.isa},
            {"plan",
             {{"samples", record.plan.samples},
              {"rounds", record.plan.rounds},
              {"warm_up_ns", record.plan.warm_up_ns},
              {"measurement_ns", record.plan.measurement_ns},
              {"timeout_ns", record.plan.timeout_ns}}},
            {"environment", to_json(record.environment)},
            {"limits", or_null(record.limits)}};
  Json warnings = Json::array();
  for (const auto& warning : record.warnings) warnings.push_back(to_json(warning));
  json["warnings"] = std::move(warnings);
  return json;
}

}  // namespace

Json to_json(const BenchmarkResult& result) {
  Json json{{"id", result.id},
            {"suite", result.suite},
            {"operation", result.operation},
            {"dtype", result.dtype},
            {"device", result.device},
            {"shape", result.shape},
            {"parameters", result.parameters},
            {"status", name_of(result.status)}};
  if (result.status != Status::ok) json["reason"] = result.reason;
  json["iterations_per_sample"] = result.iterations_per_sample;
  json["samples_ns"] = result.samples_ns;
  json["samples_per_round"] = result.samples_per_round;
  json["disturbance"] = to_json(result.disturbance);
  json["statistics_ns"] = or_null(result.statistics);
  json["work"] = to_json(result.work);
  json["throughput"] = to_json(result.throughput);
  json["limit"] = or_null(result.limit);
  json["memory"] = or_null(result.memory);
  json["check"] = or_null(result.check);
  Json figures = Json::object();
  for (const auto& [name, value] : result.figures) figures[name] = number(value);
  json["figures"] = std::move(figures);
  json["kernels"] = result.kernels;
  return json;
}

Json to_json(const Environment& environment) {
  Json devices = Json::array();
  for (const auto& device : environment.devices) {
    devices.push_back(
        {{"name", device.name}, {"usable", device.usable}, {"description", device.description}});
  }
  return {{"platform", environment.platform},
          {"os", environment.os},
          {"kernel", environment.kernel},
          {"fingerprint", environment.fingerprint},
          {"cpu", to_json(environment.cpu)},
          {"memory_bytes", environment.memory_bytes},
          {"governor", environment.governor},
          {"turbo", environment.turbo},
          {"virtualization", environment.virtualization},
          {"counters", environment.counters},
          {"energy", environment.energy},
          {"compiler", environment.compiler},
          {"compiler_flags", environment.compiler_flags},
          {"build_type", environment.build_type},
          {"load_at_start", number(environment.load_at_start)},
          {"steal_share", number(environment.steal_share)},
          {"devices", std::move(devices)}};
}

Json to_json(const MachineLimits& limits) {
  Json by_threads = Json::array();
  for (const auto& entry : limits.by_threads) {
    Json levels = Json::array();
    for (const auto& level : entry.bandwidth) {
      levels.push_back({{"level", level.level},
                        {"working_set_bytes", number(level.working_set_bytes)},
                        {"read", number(level.read)},
                        {"write", number(level.write)},
                        {"copy", number(level.copy)},
                        {"triad", number(level.triad)}});
    }
    by_threads.push_back({{"threads", entry.threads},
                          {"bandwidth_bytes_per_second", std::move(levels)},
                          {"operations_per_second", entry.operations}});
  }
  return {{"fingerprint", limits.fingerprint},
          {"measured_at", limits.measured_at},
          {"isa", limits.isa},
          {"by_threads", std::move(by_threads)}};
}

std::string to_json_text(const RunRecord& record) {
  // Names may hold any bytes (a command line, say): what is not UTF-8 is replaced, not thrown.
  const auto dump = [](const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
  };
  std::string text = dump(header_of(record), 2);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n  \"benchmarks\": [";
  const char* separator = "\n    ";
  for (const auto& result : record.benchmarks) {
    text += separator + dump(to_json(result), -1);
    separator = ",\n    ";
  }
  text += record.benchmarks.empty() ? "]\n}\n" : "\n  ]\n}\n";
  return text;
}

}  // namespace trilobite
