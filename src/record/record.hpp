#pragma once
// RunRecord: everything one run measured, as plain data. docs/formats/record.md has the JSON form,
// record_json.hpp reads and writes it. Nothing here computes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_info.hpp"

namespace trilobite {

inline constexpr std::string_view kRecordSchema = "trilobite.record/1";

/// A doubt about the numbers. Every report shows it.
struct Warning {
  std::string code;       // stable, for programs: "virtualized", "no-counters", ...
  std::string message;    // what is the matter
  std::string advice;     // what to do about it
  std::string benchmark;  // id when it concerns one benchmark, else empty
};

enum class Status { ok, skipped, failed, timeout };

struct Interval {
  double low = 0;
  double high = 0;
};

struct OutlierCounts {
  size_t low_severe = 0;
  size_t low_mild = 0;
  size_t high_mild = 0;
  size_t high_severe = 0;
};

/// Of one iteration, in nanoseconds.
struct TimeStatistics {
  double median = 0;
  double mean = 0;
  double sd = 0;
  double mad = 0;
  double min = 0;
  double max = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  Interval median_ci95;
  OutlierCounts outliers;
};

/// What one iteration does; 0 means "does not apply".
struct WorkDone {
  double elements = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  double items = 0;
  double tokens = 0;
  double flops = 0;
  std::string compute = "f32";   // which peak rate `flops` is held against: f32, bf16, i8, ternary
  double working_set_bytes = 0;  // what many iterations touch together; 0: what one does
};

/// Per second, from the median; 0 means "does not apply".
struct Throughput {
  double elements = 0;
  double bytes = 0;
  double items = 0;
  double tokens = 0;
  double flops = 0;
};

/// The measured limit of the machine that bounds this benchmark.
struct LimitShare {
  std::string limit;  // "memory read, L2, 2 threads", "f32 arithmetic, 2 threads"
  double value = 0;   // of the limit, in `unit`
  std::string unit;   // "B/s" or "op/s"
  double share = 0;   // time at the limit / measured median: 1 means at the limit
};

/// Of one iteration outside the timed region, counted by the allocator.
struct MemoryUse {
  uint64_t allocated_bytes = 0;
  uint64_t peak_bytes = 0;  // most bytes live at once that this iteration allocated
  uint64_t allocations = 0;
};

/// The comparison of the output with a reference before any time counted.
struct CheckOutcome {
  std::string reference;
  double max_error = 0;
  double tolerance = 0;
  std::optional<double> cosine;
  bool passed = false;
};

/// Samples that something else disturbed.
struct Disturbance {
  uint64_t by_steal = 0;           // the hypervisor ran somebody else
  uint64_t by_context_switch = 0;  // the kernel ran somebody else
  uint64_t by_major_fault = 0;     // a page came from disk
  uint64_t retaken = 0;            // disturbed samples that were replaced by clean ones
  uint64_t kept = 0;               // disturbed samples that the time budget did not allow to retake
};

/// The witness takes at most so many times its shortest time while nobody else uses the core.
inline constexpr double kQuietSpread = 1.01;

/// Times of moments in which nobody else used the core, as a loop before and after each tells
/// (measure/core_witness.hpp). Their samples are shorter than the usual ones.
struct QuietTime {
  double best_ns = 0;     // the lowest of the medians of the rounds
  double witness_ns = 0;  // shortest time of that loop; runs compare only where theirs agree
  std::vector<double> samples_ns;
  std::vector<uint64_t> samples_per_round;  // only of rounds that had enough of them
};

struct BenchmarkResult {
  std::string id;  // suite/operation/dtype/device/shape
  std::string suite;
  std::string operation;
  std::string dtype;
  std::string device;
  std::string shape;
  std::map<std::string, std::string> parameters;
  Status status = Status::ok;
  std::string reason;  // of any status but ok
  uint64_t iterations_per_sample = 0;
  std::vector<double> samples_ns;           // each: time of one sample / iterations_per_sample
  std::vector<uint64_t> samples_per_round;  // how many of them each round contributed, in order
  Disturbance disturbance;
  std::optional<TimeStatistics> statistics;
  std::optional<QuietTime> quiet;  // one thread and short iterations only
  WorkDone work;
  Throughput throughput;
  std::optional<LimitShare> limit;
  std::optional<MemoryUse> memory;
  std::optional<CheckOutcome> check;
  std::map<std::string, double> figures;    // what else the benchmark found; unit in the name
  std::map<std::string, uint64_t> kernels;  // calls of each, counted by the dispatcher
};

/// What the sampling was asked to be.
struct PlanFacts {
  uint64_t samples = 0;
  uint64_t rounds = 0;
  int64_t warm_up_ns = 0;
  int64_t measurement_ns = 0;
  int64_t timeout_ns = 0;
};

struct DeviceFacts {
  std::string name;
  bool usable = false;
  std::string description;  // what it is, or what is missing
};

struct Environment {
  std::string platform;  // "linux-x86_64"
  std::string os;
  std::string kernel;
  std::string fingerprint;  // of the machine: equal fingerprints may be compared
  CpuInfo cpu;
  uint64_t memory_bytes = 0;
  std::string governor;        // "performance", ..., "unavailable: <reason>"
  std::string turbo;           // "on", "off", "unavailable: <reason>"
  std::string virtualization;  // "none", "kvm", ...
  std::string counters;        // hardware counters: "available" or "unavailable: <reason>"
  std::string energy;          // energy counters: the same
  std::string compiler;
  std::string compiler_flags;
  std::string build_type;
  double load_at_start = 0;  // 1-minute load average
  double steal_share = 0;    // of the CPU time while running
  std::vector<DeviceFacts> devices;
};

/// One cache level's (or the main memory's) measured bandwidth.
struct BandwidthLimit {
  std::string level;  // "L1", "L2", "L3", "memory"
  double working_set_bytes = 0;
  double read = 0;  // bytes per second
  double write = 0;
  double copy = 0;   // one read stream, one write stream, both counted
  double triad = 0;  // two read streams, one write stream, all counted
};

struct ThreadLimits {
  unsigned threads = 1;
  std::vector<BandwidthLimit> bandwidth;  // smallest working set first
  std::map<std::string, double>
      operations;  // "f32", "bf16", "i8", "ternary": operations per second
};

struct MachineLimits {
  std::string fingerprint;
  std::string measured_at;  // ISO 8601
  std::string isa;          // instruction set of the measuring loops
  std::vector<ThreadLimits> by_threads;
};

struct GitFacts {
  std::string commit;  // empty when unknown
  bool dirty = false;
};

struct RunRecord {
  std::string id;
  std::string started_at;   // ISO 8601, UTC
  std::string finished_at;  // empty while running
  bool complete = false;    // false: interrupted, or still running
  std::vector<std::string> command;
  std::string version;
  GitFacts git;
  uint64_t seed = 0;
  bool deterministic = false;
  unsigned threads = 1;
  std::string isa;
  PlanFacts plan;
  Environment environment;
  std::optional<MachineLimits> limits;
  std::vector<Warning> warnings;
  std::vector<BenchmarkResult> benchmarks;
};

std::string_view name_of(Status status);
std::optional<Status> status_from_name(std::string_view name);

}  // namespace trilobite
