#include "report/records_for_test.hpp"

#include "stats/summary.hpp"

namespace trilobite::fixtures {
namespace {

BenchmarkResult named(const Names& names) {
  BenchmarkResult result;
  result.suite = names.suite;
  result.operation = names.operation;
  result.dtype = names.dtype;
  result.device = names.device;
  result.shape = names.shape;
  result.id = names.suite + "/" + names.operation + "/" + names.dtype + "/" + names.device + "/" +
              names.shape;
  return result;
}

}  // namespace

BenchmarkResult measured(const Names& names, std::vector<double> samples_ns) {
  auto result = named(names);
  const auto sample = stats::Sample::from(samples_ns);
  TRILOBITE_CHECK(sample.has_value());
  const auto s = stats::summarize(*sample, 42);
  result.statistics = TimeStatistics{.median = s.median,
                                     .mean = s.mean,
                                     .sd = s.sd,
                                     .mad = s.mad,
                                     .min = s.min,
                                     .max = s.max,
                                     .p50 = s.p50,
                                     .p95 = s.p95,
                                     .p99 = s.p99,
                                     .median_ci95 = {s.median_ci95.low, s.median_ci95.high},
                                     .outliers = {s.outliers.low_severe, s.outliers.low_mild,
                                                  s.outliers.high_mild, s.outliers.high_severe}};
  result.iterations_per_sample = 10;
  result.samples_per_round = {samples_ns.size()};
  result.samples_ns = std::move(samples_ns);
  return result;
}

BenchmarkResult unmeasured(const Names& names, Status status, std::string reason) {
  auto result = named(names);
  result.status = status;
  result.reason = std::move(reason);
  return result;
}

std::vector<double> samples_around(double centre, double spread, size_t count) {
  std::vector<double> samples;
  for (size_t i = 0; i < count; ++i) {
    // A low-discrepancy sequence: even, not sorted, the same everywhere.
    const double at = static_cast<double>((i * 7 + 3) % count) / static_cast<double>(count) - 0.5;
    samples.push_back(centre * (1 + spread * at));
  }
  return samples;
}

RunRecord small_record() {
  RunRecord record;
  record.id = "20260101T000000-1";
  record.started_at = "2026-01-01T00:00:00Z";
  record.finished_at = "2026-01-01T00:00:09Z";
  record.complete = true;
  record.command = {"trilobite", "bench"};
  record.version = "0.1.0";
  record.git = {.commit = "0123456789abcdef", .dirty = true};
  record.threads = 2;
  record.isa = "avx2";
  record.plan = {.samples = 20, .rounds = 2};
  record.environment.platform = "linux-x86_64";
  record.environment.fingerprint = "abc";
  record.environment.cpu.model = "Example CPU";
  record.environment.cpu.logical_cpus = 2;
  record.environment.cpu.caches = {
      {.level = 1, .type = "Data", .size_bytes = 32768, .shared_by = 1},
      {.level = 2, .type = "Unified", .size_bytes = 524288, .shared_by = 1}};
  record.environment.governor = "unavailable: no cpufreq";
  record.environment.build_type = "Release";

  auto matmul = measured({}, samples_around(1234.25, 0.02));
  matmul.samples_per_round = {12, 8};
  matmul.work = {.bytes_read = 32768, .bytes_written = 16384, .flops = 524288};
  matmul.throughput = {.bytes = 49152e9 / matmul.statistics->median,
                       .flops = 524288e9 / matmul.statistics->median};
  matmul.limit = LimitShare{
      .limit = "f32 arithmetic, 2 threads", .value = 6e11, .unit = "op/s", .share = 0.7078};
  matmul.memory = MemoryUse{.allocated_bytes = 16384, .peak_bytes = 16384, .allocations = 1};
  matmul.check = CheckOutcome{.reference = "reference",
                              .max_error = 1e-6,
                              .tolerance = 1e-4,
                              .cosine = 1.0,
                              .passed = true};
  matmul.figures = {{"snr_db", 45.25}};
  matmul.disturbance = {.by_steal = 3, .retaken = 1, .kept = 2};
  matmul.parameters = {{"layout", "dense"}};
  matmul.id += "/layout=dense";

  auto tiny = measured({.operation = "add", .shape = "8"}, {0.4, 0.41, 0.42});
  tiny.work = {.elements = 8};
  tiny.throughput = {.elements = 8e9 / tiny.statistics->median};

  record.benchmarks = {
      matmul,
      unmeasured({.device = "openblas"}, Status::skipped, "openblas has no f32 matmul here"), tiny,
      unmeasured({.operation = "softmax"}, Status::failed, "wrong output: 0.5 away, 1e-4 allowed"),
      unmeasured({.operation = "softmax", .shape = "4096"}, Status::timeout, "took over 60 s")};
  record.warnings = {
      {"virtualized", "this is a kvm", "use a dedicated machine", ""},
      {"disturbed", "2 of 20 samples were disturbed", "raise --measurement-time", matmul.id}};
  return record;
}

std::vector<std::string> hostile_names() {
  return {"<script>alert('x')</script>",
          "say \"hi\"",
          "a,b;c|d",
          "two\nlines\r\nof text",
          "\x1b[31mred\x1b[0m",
          std::string(3000, 'x'),
          "\u05E9\u05DC\u05D5\u05DD\u202E",
          "\u4E2D\u6587\U0001F600",
          "bad\xff\xc0\xafutf8\xe2\x82",
          "=1+1"};
}

RunRecord hostile_record() {
  RunRecord record;
  record.complete = true;
  for (const auto& name : hostile_names()) {
    record.benchmarks.push_back(
        measured({.suite = "hostile", .operation = name}, samples_around(5000, 0.1)));
    record.benchmarks.push_back(unmeasured({.suite = "hostile", .operation = name, .shape = "2"},
                                           Status::failed, "because " + name));
    record.warnings.push_back({name, name, name, record.benchmarks.back().id});
  }
  return record;
}

}  // namespace trilobite::fixtures
