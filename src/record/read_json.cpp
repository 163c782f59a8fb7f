#include <fmt/format.h>

#include <limits>

#include "base/parse_number.hpp"
#include "record/check_record.hpp"
#include "record/record_json.hpp"

namespace trilobite {
namespace {

/// One reader per object; `problems` keeps the first error of any of them.
class RecordReader {
 public:
  Result<RunRecord> read(const Json& json);
  MachineLimits read_limits(const Json& json, const std::string& place);
  BenchmarkResult benchmark(const Json& json, const std::string& place);
  Result<void> outcome() const {
    if (problem_) return std::unexpected(*problem_);
    return {};
  }

 private:
  void close(ObjectReader& reader) {
    const auto done = reader.finish_allowing_more();
    if (!done && !problem_) problem_ = done.error();
  }
  std::string text(ObjectReader& reader, const char* key) {
    reader.require(key);
    return reader.text(key).value_or("");
  }
  double number(ObjectReader& reader, const char* key) {
    return reader.number(key).value_or(std::numeric_limits<double>::quiet_NaN());
  }
  uint64_t count(ObjectReader& reader, const char* key) {
    reader.require(key);
    return static_cast<uint64_t>(reader.integer(key).value_or(0));
  }
  Interval interval(ObjectReader& reader, const char* key);
  std::map<std::string, std::string> text_map(ObjectReader& reader, const char* key);
  std::map<std::string, double> number_map(ObjectReader& reader, const char* key);

  template <typename T>
  using Member = T (RecordReader::*)(const Json&, const std::string&);
  /// Reads an optional member object.
  template <typename T>
  std::optional<T> optional(ObjectReader& reader, const char* key, Member<T> read_member) {
    const Json* json = reader.member(key);
    if (json == nullptr) return std::nullopt;
    return (this->*read_member)(*json, reader.place_of(key));
  }
  /// Reads a list of objects.
  template <typename T>
  std::vector<T> list(ObjectReader& reader, const char* key, Member<T> read_member) {
    std::vector<T> result;
    const Json* json = reader.array(key);
    for (size_t i = 0; json != nullptr && i < json->size(); ++i) {
      result.push_back(
          (this->*read_member)((*json)[i], fmt::format("{}[{}]", reader.place_of(key), i)));
    }
    return result;
  }

  Warning warning(const Json& json, const std::string& place);
  TimeStatistics statistics(const Json& json, const std::string& place);
  OutlierCounts outliers(const Json& json, const std::string& place);
  WorkDone work(const Json& json, const std::string& place);
  Throughput throughput(const Json& json, const std::string& place);
  LimitShare limit(const Json& json, const std::string& place);
  MemoryUse memory(const Json& json, const std::string& place);
  CheckOutcome check(const Json& json, const std::string& place);
  Disturbance disturbance(const Json& json, const std::string& place);
  CacheInfo cache(const Json& json, const std::string& place);
  CpuInfo cpu(const Json& json, const std::string& place);
  DeviceFacts device(const Json& json, const std::string& place);
  Environment environment(const Json& json, const std::string& place);
  BandwidthLimit bandwidth(const Json& json, const std::string& place);
  ThreadLimits thread_limits(const Json& json, const std::string& place);
  PlanFacts plan(const Json& json, const std::string& place);
  GitFacts git(const Json& json, const std::string& place);

  std::optional<Error> problem_;
};

Interval RecordReader::interval(ObjectReader& reader, const char* key) {
  const auto ends = reader.numbers(key).value_or(std::vector<double>());
  if (ends.size() != 2) {
    reader.problem(key, "must be a list of two numbers");
    return {};
  }
  return {ends[0], ends[1]};
}

std::map<std::string, std::string> RecordReader::text_map(ObjectReader& reader, const char* key) {
  std::map<std::string, std::string> result;
  const Json* json = reader.member(key);
  if (json == nullptr) return result;
  ObjectReader members(*json, reader.place_of(key));
  if (json->is_object()) {
    for (const auto& [name, value] : json->items()) result[name] = members.text(name).value_or("");
  }
  close(members);
  return result;
}

std::map<std::string, double> RecordReader::number_map(ObjectReader& reader, const char* key) {
  std::map<std::string, double> result;
  const Json* json = reader.member(key);
  if (json == nullptr) return result;
  ObjectReader members(*json, reader.place_of(key));
  if (json->is_object()) {
    for (const auto& [name, value] : json->items()) result[name] = number(members, name.c_str());
  }
  close(members);
  return result;
}

Warning RecordReader::warning(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  Warning result{.code = text(reader, "code"),
                 .message = text(reader, "message"),
                 .advice = reader.text("advice").value_or(""),
                 .benchmark = reader.text("benchmark").value_or("")};
  close(reader);
  return result;
}

OutlierCounts RecordReader::outliers(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  OutlierCounts result{.low_severe = count(reader, "low_severe"),
                       .low_mild = count(reader, "low_mild"),
                       .high_mild = count(reader, "high_mild"),
                       .high_severe = count(reader, "high_severe")};
  close(reader);
  return result;
}

TimeStatistics RecordReader::statistics(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  reader.require("median");
  TimeStatistics result{
      .median = number(reader, "median"),
      .mean = number(reader, "mean"),
      .sd = number(reader, "sd"),
      .mad = number(reader, "mad"),
      .min = number(reader, "min"),
      .max = number(reader, "max"),
      .p50 = number(reader, "p50"),
      .p95 = number(reader, "p95"),
      .p99 = number(reader, "p99"),
      .median_ci95 = interval(reader, "median_ci95"),
      .outliers = optional(reader, "outliers", &RecordReader::outliers).value_or(OutlierCounts())};
  close(reader);
  return result;
}

WorkDone RecordReader::work(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  WorkDone result{.elements = reader.number("elements").value_or(0),
                  .bytes_read = reader.number("bytes_read").value_or(0),
                  .bytes_written = reader.number("bytes_written").value_or(0),
                  .items = reader.number("items").value_or(0),
                  .tokens = reader.number("tokens").value_or(0),
                  .flops = reader.number("flops").value_or(0),
                  .compute = reader.text("compute").value_or("f32")};
  close(reader);
  return result;
}

Throughput RecordReader::throughput(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  Throughput result{.elements = reader.number("elements_per_second").value_or(0),
                    .bytes = reader.number("bytes_per_second").value_or(0),
                    .items = reader.number("items_per_second").value_or(0),
                    .tokens = reader.number("tokens_per_second").value_or(0),
                    .flops = reader.number("flops_per_second").value_or(0)};
  close(reader);
  return result;
}

LimitShare RecordReader::limit(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  LimitShare result{.limit = text(reader, "limit"),
                    .value = number(reader, "value"),
                    .unit = text(reader, "unit"),
                    .share = number(reader, "share")};
  close(reader);
  return result;
}

MemoryUse RecordReader::memory(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  MemoryUse result{.allocated_bytes = count(reader, "allocated_bytes"),
                   .peak_bytes = count(reader, "peak_bytes"),
                   .allocations = count(reader, "allocations")};
  close(reader);
  return result;
}

CheckOutcome RecordReader::check(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  reader.require("passed");
  CheckOutcome result{.reference = text(reader, "reference"),
                      .max_error = number(reader, "max_error"),
                      .tolerance = number(reader, "tolerance"),
                      .cosine = reader.number("cosine"),
                      .passed = reader.boolean("passed").value_or(false)};
  close(reader);
  return result;
}

Disturbance RecordReader::disturbance(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  Disturbance result{.by_steal = count(reader, "by_steal"),
                     .by_context_switch = count(reader, "by_context_switch"),
                     .by_major_fault = count(reader, "by_major_fault"),
                     .retaken = count(reader, "retaken"),
                     .kept = count(reader, "kept")};
  close(reader);
  return result;
}

std::vector<uint64_t> counts_of(const Json* list) {
  std::vector<uint64_t> result;
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    result.push_back((*list)[i].is_number_unsigned() ? (*list)[i].get<uint64_t>() : 0);
  }
  return result;
}

BenchmarkResult RecordReader::benchmark(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  BenchmarkResult result;
  result.id = text(reader, "id");
  result.suite = text(reader, "suite");
  result.operation = text(reader, "operation");
  result.dtype = text(reader, "dtype");
  result.device = text(reader, "device");
  result.shape = text(reader, "shape");
  result.parameters = text_map(reader, "parameters");
  const auto status = text(reader, "status");
  if (const auto known = status_from_name(status)) {
    result.status = *known;
  } else {
    reader.problem("status", fmt::format("'{}' is none of ok, skipped, failed, timeout", status));
  }
  result.reason = reader.text("reason").value_or("");
  result.iterations_per_sample = count(reader, "iterations_per_sample");
  reader.require("samples_ns");
  result.samples_ns = reader.numbers("samples_ns").value_or(std::vector<double>());
  result.samples_per_round = counts_of(reader.array("samples_per_round"));
  result.disturbance =
      optional(reader, "disturbance", &RecordReader::disturbance).value_or(Disturbance());
  result.statistics = optional(reader, "statistics_ns", &RecordReader::statistics);
  result.work = optional(reader, "work", &RecordReader::work).value_or(WorkDone());
  result.throughput =
      optional(reader, "throughput", &RecordReader::throughput).value_or(Throughput());
  result.limit = optional(reader, "limit", &RecordReader::limit);
  result.memory = optional(reader, "memory", &RecordReader::memory);
  result.check = optional(reader, "check", &RecordReader::check);
  result.figures = number_map(reader, "figures");
  for (const auto& [kernel, calls] : number_map(reader, "kernels")) {
    result.kernels[kernel] = calls >= 0 ? static_cast<uint64_t>(calls) : 0;
  }
  close(reader);
  return result;
}

CacheInfo RecordReader::cache(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  CacheInfo result{
      .level = static_cast<int>(reader.integer("level", {0, 16}).value_or(0)),
      .type = text(reader, "type"),
      .size_bytes = count(reader, "size_bytes"),
      .shared_by = static_cast<unsigned>(reader.integer("shared_by", {1, 1 << 20}).value_or(1))};
  close(reader);
  return result;
}

CpuInfo RecordReader::cpu(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  const auto cores = [&](const char* key) {
    return static_cast<unsigned>(reader.integer(key, {1, 1 << 20}).value_or(1));
  };
  CpuInfo result{.architecture = text(reader, "architecture"),
                 .vendor = reader.text("vendor").value_or(""),
                 .model = text(reader, "model"),
                 .logical_cpus = cores("logical_cpus"),
                 .physical_cores = cores("physical_cores"),
                 .sockets = cores("sockets"),
                 .numa_nodes = cores("numa_nodes"),
                 .features = reader.texts("features").value_or(std::vector<std::string>()),
                 .caches = list(reader, "caches", &RecordReader::cache)};
  close(reader);
  return result;
}

DeviceFacts RecordReader::device(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  DeviceFacts result{.name = text(reader, "name"),
                     .usable = reader.boolean("usable").value_or(false),
                     .description = reader.text("description").value_or("")};
  close(reader);
  return result;
}

Environment RecordReader::environment(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  const auto optional_text = [&](const char* key) { return reader.text(key).value_or(""); };
  Environment result;
  result.platform = text(reader, "platform");
  result.os = optional_text("os");
  result.kernel = optional_text("kernel");
  result.fingerprint = text(reader, "fingerprint");
  reader.require("cpu");
  result.cpu = optional(reader, "cpu", &RecordReader::cpu).value_or(CpuInfo());
  result.memory_bytes = count(reader, "memory_bytes");
  result.governor = optional_text("governor");
  result.turbo = optional_text("turbo");
  result.virtualization = optional_text("virtualization");
  result.counters = optional_text("counters");
  result.energy = optional_text("energy");
  result.compiler = optional_text("compiler");
  result.compiler_flags = optional_text("compiler_flags");
  result.build_type = optional_text("build_type");
  result.load_at_start = number(reader, "load_at_start");
  result.steal_share = number(reader, "steal_share");
  result.devices = list(reader, "devices", &RecordReader::device);
  close(reader);
  return result;
}

BandwidthLimit RecordReader::bandwidth(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  BandwidthLimit result{.level = text(reader, "level"),
                        .working_set_bytes = number(reader, "working_set_bytes"),
                        .read = number(reader, "read"),
                        .write = number(reader, "write"),
                        .copy = number(reader, "copy"),
                        .triad = number(reader, "triad")};
  close(reader);
  return result;
}

ThreadLimits RecordReader::thread_limits(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  reader.require("threads");
  ThreadLimits result{
      .threads = static_cast<unsigned>(reader.integer("threads", {1, 1 << 20}).value_or(1)),
      .bandwidth = list(reader, "bandwidth_bytes_per_second", &RecordReader::bandwidth),
      .operations = number_map(reader, "operations_per_second")};
  close(reader);
  return result;
}

MachineLimits RecordReader::read_limits(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  MachineLimits result{.fingerprint = text(reader, "fingerprint"),
                       .measured_at = text(reader, "measured_at"),
                       .isa = text(reader, "isa"),
                       .by_threads = list(reader, "by_threads", &RecordReader::thread_limits)};
  close(reader);
  return result;
}

PlanFacts RecordReader::plan(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  const auto nanoseconds = [&](const char* key) {
    return static_cast<int64_t>(count(reader, key));
  };
  PlanFacts result{.samples = count(reader, "samples"),
                   .rounds = count(reader, "rounds"),
                   .warm_up_ns = nanoseconds("warm_up_ns"),
                   .measurement_ns = nanoseconds("measurement_ns"),
                   .timeout_ns = nanoseconds("timeout_ns")};
  close(reader);
  return result;
}

GitFacts RecordReader::git(const Json& json, const std::string& place) {
  ObjectReader reader(json, place);
  GitFacts result{.commit = reader.text("commit").value_or(""),
                  .dirty = reader.boolean("dirty").value_or(false)};
  close(reader);
  return result;
}

/// "trilobite.record/1": the name must be ours, the number not above what we know.
Result<void> check_schema(const Json& json) {
  if (!json.is_object() || !json.contains("schema") || !json.at("schema").is_string()) {
    return fail("not a Trilobite record: it has no \"schema\"");
  }
  const auto schema = json.at("schema").get<std::string>();
  if (schema == kRecordSchema) return {};
  const auto slash = schema.find('/');
  const auto number =
      slash == std::string::npos ? Result<int64_t>(fail("")) : parse_int(schema.substr(slash + 1));
  if (schema.substr(0, slash) != "trilobite.record" || !number) {
    return fail(fmt::format("not a Trilobite record: its schema is '{}'", schema));
  }
  return fail(fmt::format("the record has schema {}, this program reads {}; use a newer Trilobite",
                          schema, kRecordSchema));
}

Result<RunRecord> RecordReader::read(const Json& json) {
  if (auto known = check_schema(json); !known) return fail_from(known);
  ObjectReader reader(json, "");
  RunRecord record;
  record.id = text(reader, "id");
  record.started_at = text(reader, "started_at");
  record.finished_at = reader.text("finished_at").value_or("");
  reader.require("complete");
  record.complete = reader.boolean("complete").value_or(false);
  record.command = reader.texts("command").value_or(std::vector<std::string>());
  record.version = text(reader, "version");
  record.git = optional(reader, "git", &RecordReader::git).value_or(GitFacts());
  const Json* seed = reader.member("seed");
  if (seed != nullptr && seed->is_number_unsigned()) record.seed = seed->get<uint64_t>();
  record.deterministic = reader.boolean("deterministic").value_or(false);
  record.threads = static_cast<unsigned>(reader.integer("threads", {1, 1 << 20}).value_or(1));
  record.isa = reader.text("isa").value_or("");
  record.plan = optional(reader, "plan", &RecordReader::plan).value_or(PlanFacts());
  reader.require("environment");
  record.environment =
      optional(reader, "environment", &RecordReader::environment).value_or(Environment());
  record.limits = optional(reader, "limits", &RecordReader::read_limits);
  record.warnings = list(reader, "warnings", &RecordReader::warning);
  reader.require("benchmarks");
  record.benchmarks = list(reader, "benchmarks", &RecordReader::benchmark);
  close(reader);
  if (auto done = outcome(); !done) return fail_from(done);
  return record;
}

}  // namespace

Result<RunRecord> record_from_json_text(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return fail_from(json);
  auto record = RecordReader().read(*json);
  if (!record) return record;
  if (auto consistent = check_record(*record); !consistent) return fail_from(consistent);
  return record;
}

Result<RunRecord> load_record(const Path& path) {
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  auto record = record_from_json_text(*text);
  if (!record) return fail_from(record, path.string());
  return record;
}

Result<BenchmarkResult> benchmark_from_json(const Json& json, const std::string& place) {
  RecordReader reader;
  auto result = reader.benchmark(json, place);
  if (auto done = reader.outcome(); !done) return fail_from(done);
  return result;
}

Result<MachineLimits> limits_from_json(const Json& json, const std::string& place) {
  RecordReader reader;
  auto limits = reader.read_limits(json, place);
  if (auto done = reader.outcome(); !done) return fail_from(done);
  return limits;
}

}  // namespace trilobite
