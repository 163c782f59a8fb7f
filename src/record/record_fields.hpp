#pragma once
// The JSON members of every part of a record, each named once: `describe` lists them in the order
// of the file, and the reader and the writer are the two visitors that walk over that list. To add
// a member, add it to the struct, here, and to docs/formats/record.md.
//
// What a visitor does with a member:
//   required  must be there                      optional  keeps its default when it is missing
//   positive  as required, and at least 1        sparse    as optional, left out while it is empty
//   figure    a double that may not exist: NaN here, null (or missing) in the file

#include <concepts>
#include <type_traits>

#include "record/record.hpp"

namespace trilobite {

/// Infinite figures in a file.
inline constexpr const char* kInfinite = "inf";
inline constexpr const char* kMinusInfinite = "-inf";

/// `Part`, or `const Part` when it is being written.
template <typename T, typename Part>
concept PartOf = std::same_as<std::remove_const_t<T>, Part>;

void describe(auto& members, PartOf<Warning> auto& warning) {
  members.required("code", warning.code);
  members.required("message", warning.message);
  members.optional("advice", warning.advice);
  members.sparse("benchmark", warning.benchmark);
}

void describe(auto& members, PartOf<OutlierCounts> auto& outliers) {
  members.required("low_severe", outliers.low_severe);
  members.required("low_mild", outliers.low_mild);
  members.required("high_mild", outliers.high_mild);
  members.required("high_severe", outliers.high_severe);
}

void describe(auto& members, PartOf<TimeStatistics> auto& statistics) {
  members.required("median", statistics.median);
  members.figure("mean", statistics.mean);
  members.figure("sd", statistics.sd);
  members.figure("mad", statistics.mad);
  members.figure("min", statistics.min);
  members.figure("max", statistics.max);
  members.figure("p50", statistics.p50);
  members.figure("p95", statistics.p95);
  members.figure("p99", statistics.p99);
  members.required("median_ci95", statistics.median_ci95);
  members.optional("outliers", statistics.outliers);
}

void describe(auto& members, PartOf<WorkDone> auto& work) {
  members.optional("elements", work.elements);
  members.optional("bytes_read", work.bytes_read);
  members.optional("bytes_written", work.bytes_written);
  members.optional("items", work.items);
  members.optional("tokens", work.tokens);
  members.optional("flops", work.flops);
  members.optional("compute", work.compute);
  members.optional("working_set_bytes", work.working_set_bytes);
}

void describe(auto& members, PartOf<Throughput> auto& throughput) {
  members.sparse("elements_per_second", throughput.elements);
  members.sparse("bytes_per_second", throughput.bytes);
  members.sparse("items_per_second", throughput.items);
  members.sparse("tokens_per_second", throughput.tokens);
  members.sparse("flops_per_second", throughput.flops);
}

void describe(auto& members, PartOf<LimitShare> auto& limit) {
  members.required("limit", limit.limit);
  members.figure("value", limit.value);
  members.required("unit", limit.unit);
  members.figure("share", limit.share);
}

void describe(auto& members, PartOf<MemoryUse> auto& memory) {
  members.required("allocated_bytes", memory.allocated_bytes);
  members.required("peak_bytes", memory.peak_bytes);
  members.required("allocations", memory.allocations);
}

void describe(auto& members, PartOf<CheckOutcome> auto& check) {
  members.required("reference", check.reference);
  members.figure("max_error", check.max_error);
  members.figure("tolerance", check.tolerance);
  members.optional("cosine", check.cosine);
  members.required("passed", check.passed);
}

void describe(auto& members, PartOf<Disturbance> auto& disturbance) {
  members.required("by_steal", disturbance.by_steal);
  members.required("by_context_switch", disturbance.by_context_switch);
  members.required("by_major_fault", disturbance.by_major_fault);
  members.required("retaken", disturbance.retaken);
  members.required("kept", disturbance.kept);
}

void describe(auto& members, PartOf<QuietTime> auto& quiet) {
  members.required("best_ns", quiet.best_ns);
  members.required("witness_ns", quiet.witness_ns);
  members.required("samples_ns", quiet.samples_ns);
  members.required("samples_per_round", quiet.samples_per_round);
}

void describe(auto& members, PartOf<BenchmarkResult> auto& result) {
  members.required("id", result.id);
  members.required("suite", result.suite);
  members.required("operation", result.operation);
  members.required("dtype", result.dtype);
  members.required("device", result.device);
  members.required("shape", result.shape);
  members.optional("parameters", result.parameters);
  members.required("status", result.status);
  members.sparse("reason", result.reason);
  members.required("iterations_per_sample", result.iterations_per_sample);
  members.required("samples_ns", result.samples_ns);
  members.optional("samples_per_round", result.samples_per_round);
  members.optional("disturbance", result.disturbance);
  members.optional("statistics_ns", result.statistics);
  members.optional("quiet", result.quiet);
  members.optional("work", result.work);
  members.optional("throughput", result.throughput);
  members.optional("limit", result.limit);
  members.optional("memory", result.memory);
  members.optional("check", result.check);
  members.optional("figures", result.figures);
  members.optional("kernels", result.kernels);
}

void describe(auto& members, PartOf<CacheInfo> auto& cache) {
  members.optional("level", cache.level);
  members.required("type", cache.type);
  members.required("size_bytes", cache.size_bytes);
  members.positive("shared_by", cache.shared_by);
}

void describe(auto& members, PartOf<CpuInfo> auto& cpu) {
  members.required("architecture", cpu.architecture);
  members.optional("vendor", cpu.vendor);
  members.required("model", cpu.model);
  members.positive("logical_cpus", cpu.logical_cpus);
  members.positive("physical_cores", cpu.physical_cores);
  members.positive("sockets", cpu.sockets);
  members.positive("numa_nodes", cpu.numa_nodes);
  members.optional("features", cpu.features);
  members.optional("caches", cpu.caches);
}

void describe(auto& members, PartOf<DeviceFacts> auto& device) {
  members.required("name", device.name);
  members.optional("usable", device.usable);
  members.optional("description", device.description);
}

void describe(auto& members, PartOf<Environment> auto& environment) {
  members.required("platform", environment.platform);
  members.optional("os", environment.os);
  members.optional("kernel", environment.kernel);
  members.required("fingerprint", environment.fingerprint);
  members.required("cpu", environment.cpu);
  members.required("memory_bytes", environment.memory_bytes);
  members.optional("governor", environment.governor);
  members.optional("turbo", environment.turbo);
  members.optional("virtualization", environment.virtualization);
  members.optional("counters", environment.counters);
  members.optional("energy", environment.energy);
  members.optional("compiler", environment.compiler);
  members.optional("compiler_flags", environment.compiler_flags);
  members.optional("build_type", environment.build_type);
  members.figure("load_at_start", environment.load_at_start);
  members.figure("steal_share", environment.steal_share);
  members.optional("devices", environment.devices);
}

void describe(auto& members, PartOf<BandwidthLimit> auto& bandwidth) {
  members.required("level", bandwidth.level);
  members.figure("working_set_bytes", bandwidth.working_set_bytes);
  members.figure("read", bandwidth.read);
  members.figure("write", bandwidth.write);
  members.figure("copy", bandwidth.copy);
  members.figure("triad", bandwidth.triad);
}

void describe(auto& members, PartOf<ThreadLimits> auto& limits) {
  members.positive("threads", limits.threads);
  members.optional("bandwidth_bytes_per_second", limits.bandwidth);
  members.optional("operations_per_second", limits.operations);
}

void describe(auto& members, PartOf<MachineLimits> auto& limits) {
  members.required("fingerprint", limits.fingerprint);
  members.required("measured_at", limits.measured_at);
  members.required("isa", limits.isa);
  members.optional("by_threads", limits.by_threads);
}

void describe(auto& members, PartOf<PlanFacts> auto& plan) {
  members.required("samples", plan.samples);
  members.required("rounds", plan.rounds);
  members.required("warm_up_ns", plan.warm_up_ns);
  members.required("measurement_ns", plan.measurement_ns);
  members.required("timeout_ns", plan.timeout_ns);
}

void describe(auto& members, PartOf<GitFacts> auto& git) {
  members.optional("commit", git.commit);
  members.optional("dirty", git.dirty);
}

/// Everything but `schema`, which comes first, and `benchmarks`, which come last, one per line.
void describe(auto& members, PartOf<RunRecord> auto& record) {
  members.required("id", record.id);
  members.required("started_at", record.started_at);
  members.optional("finished_at", record.finished_at);
  members.required("complete", record.complete);
  members.optional("command", record.command);
  members.required("version", record.version);
  members.optional("git", record.git);
  members.optional("seed", record.seed);
  members.optional("deterministic", record.deterministic);
  members.positive("threads", record.threads);
  members.optional("isa", record.isa);
  members.optional("plan", record.plan);
  members.required("environment", record.environment);
  members.optional("limits", record.limits);
  members.optional("warnings", record.warnings);
}

}  // namespace trilobite
