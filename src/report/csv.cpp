#include "report/csv.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "report/csv_text.hpp"

namespace trilobite {
namespace {

using Fields = std::vector<std::string>;

const Fields& header() {
  static const Fields kHeader = {
      "id", "suite", "operation", "dtype", "device", "shape", "parameters", "status", "reason",
      "samples", "iterations_per_sample",
      // statistics
      "median_ns", "mean_ns", "sd_ns", "mad_ns", "min_ns", "max_ns", "p50_ns", "p95_ns", "p99_ns",
      "median_ci95_low_ns", "median_ci95_high_ns", "outliers_low_severe", "outliers_low_mild",
      "outliers_high_mild", "outliers_high_severe",
      // quiet
      "quiet_best_ns", "quiet_samples", "quiet_witness_ns",
      // disturbance
      "disturbed_by_steal", "disturbed_by_context_switch", "disturbed_by_major_fault", "retaken",
      "kept_disturbed",
      // throughput
      "elements_per_second", "bytes_per_second", "items_per_second", "tokens_per_second",
      "flops_per_second",
      // limit
      "limit", "limit_value", "limit_unit", "limit_share",
      // memory
      "allocated_bytes", "peak_bytes", "allocations",
      // check
      "check_reference", "check_max_error", "check_tolerance", "check_cosine", "check_passed",
      "figures", "warnings"};
  return kHeader;
}

void append(Fields& fields, Fields more) {
  fields.insert(fields.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

Fields identity(const BenchmarkResult& result) {
  const auto parameters = result.parameters.empty() ? std::string() : json_line(result.parameters);
  return {csv_field(result.id),
          csv_field(result.suite),
          csv_field(result.operation),
          csv_field(result.dtype),
          csv_field(result.device),
          csv_field(result.shape),
          csv_field(parameters),
          std::string(name_of(result.status)),
          csv_field(result.reason),
          fmt::to_string(result.samples_ns.size()),
          fmt::to_string(result.iterations_per_sample)};
}

Fields statistics(const std::optional<TimeStatistics>& s) {
  if (!s) return Fields(15);
  return {csv_number(s->median),
          csv_number(s->mean),
          csv_number(s->sd),
          csv_number(s->mad),
          csv_number(s->min),
          csv_number(s->max),
          csv_number(s->p50),
          csv_number(s->p95),
          csv_number(s->p99),
          csv_number(s->median_ci95.low),
          csv_number(s->median_ci95.high),
          fmt::to_string(s->outliers.low_severe),
          fmt::to_string(s->outliers.low_mild),
          fmt::to_string(s->outliers.high_mild),
          fmt::to_string(s->outliers.high_severe)};
}

Fields quiet(const std::optional<QuietTime>& quiet) {
  if (!quiet) return Fields(3);
  return {csv_number(quiet->best_ns), fmt::to_string(quiet->samples_ns.size()),
          csv_number(quiet->witness_ns)};
}

Fields disturbance(const Disturbance& d) {
  return {fmt::to_string(d.by_steal), fmt::to_string(d.by_context_switch),
          fmt::to_string(d.by_major_fault), fmt::to_string(d.retaken), fmt::to_string(d.kept)};
}

Fields throughput(const Throughput& t) {
  return {csv_rate(t.elements), csv_rate(t.bytes), csv_rate(t.items), csv_rate(t.tokens),
          csv_rate(t.flops)};
}

Fields limit(const std::optional<LimitShare>& limit) {
  if (!limit) return Fields(4);
  return {csv_field(limit->limit), csv_number(limit->value), csv_field(limit->unit),
          csv_number(limit->share)};
}

Fields memory(const std::optional<MemoryUse>& memory) {
  if (!memory) return Fields(3);
  return {fmt::to_string(memory->allocated_bytes), fmt::to_string(memory->peak_bytes),
          fmt::to_string(memory->allocations)};
}

Fields check(const std::optional<CheckOutcome>& check) {
  if (!check) return Fields(5);
  return {csv_field(check->reference), csv_number(check->max_error), csv_number(check->tolerance),
          check->cosine ? csv_number(*check->cosine) : "", check->passed ? "true" : "false"};
}

std::string figures(const std::map<std::string, double>& figures) {
  if (figures.empty()) return "";
  Json json = Json::object();
  for (const auto& [name, value] : figures) json[name] = value;  // NaN is written as null
  return csv_field(json_line(json));
}

/// The codes of the warnings about each benchmark, separated by blanks.
std::map<std::string, std::string> warning_codes(const RunRecord& record) {
  std::map<std::string, std::string> codes;
  for (const auto& warning : record.warnings) {
    auto& text = codes[warning.benchmark];
    text += (text.empty() ? "" : " ") + warning.code;
  }
  codes.erase("");  // about the whole run
  return codes;
}

}  // namespace

std::string to_csv(const RunRecord& record) {
  const auto codes = warning_codes(record);
  std::string text = csv_line(header());
  for (const auto& result : record.benchmarks) {
    Fields fields = identity(result);
    append(fields, statistics(result.statistics));
    append(fields, quiet(result.quiet));
    append(fields, disturbance(result.disturbance));
    append(fields, throughput(result.throughput));
    append(fields, limit(result.limit));
    append(fields, memory(result.memory));
    append(fields, check(result.check));
    fields.push_back(figures(result.figures));
    const auto found = codes.find(result.id);
    fields.push_back(found == codes.end() ? "" : csv_field(found->second));
    TRILOBITE_CHECK(fields.size() == header().size());
    text += csv_line(fields);
  }
  return text;
}

std::string to_samples_csv(const RunRecord& record) {
  std::string text = "id,round,index,ns\n";
  for (const auto& result : record.benchmarks) {
    const auto id = csv_field(result.id);
    size_t round = 0;
    size_t end_of_round = result.samples_per_round.empty() ? SIZE_MAX : result.samples_per_round[0];
    for (size_t i = 0; i < result.samples_ns.size(); ++i) {
      while (i >= end_of_round && round + 1 < result.samples_per_round.size()) {
        end_of_round += result.samples_per_round[++round];
      }
      text += fmt::format("{},{},{},{}\n", id, round, i, csv_number(result.samples_ns[i]));
    }
  }
  return text;
}

}  // namespace trilobite
