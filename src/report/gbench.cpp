#include "report/gbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.hpp"
#include "report/human_units.hpp"

namespace trilobite {
namespace {

Json context_of(const RunRecord& record) {
  const auto& environment = record.environment;
  Json caches = Json::array();
  for (const auto& cache : environment.cpu.caches) {
    caches.push_back({{"type", cache.type},
                      {"level", cache.level},
                      {"size", cache.size_bytes},
                      {"num_sharing", cache.shared_by}});
  }
  Json context{{"date", record.started_at},
               {"executable", record.command.empty() ? "trilobite" : record.command.front()},
               {"num_cpus", environment.cpu.logical_cpus},
               {"caches", std::move(caches)},
               {"load_avg", Json::array({number_or_null(environment.load_at_start)})},
               {"library_build_type", environment.build_type == "Debug" ? "debug" : "release"},
               {"json_schema_version", 1},
               // From here on ours; Google Benchmark allows any further text.
               {"trilobite_version", record.version},
               {"trilobite_run", record.id},
               {"trilobite_cpu", environment.cpu.model},
               {"trilobite_commit", record.git.commit},
               {"trilobite_cpu_time", "not measured: cpu_time repeats real_time"}};
  if (!environment.governor.starts_with("unavailable")) {
    context["cpu_scaling_enabled"] = environment.governor != "performance";
  }
  std::string warnings;
  for (const auto& warning : record.warnings) {
    warnings += (warnings.empty() ? "" : "; ") + warning.code;
    if (!warning.benchmark.empty()) warnings += " (" + warning.benchmark + ")";
  }
  if (!warnings.empty()) context["trilobite_warnings"] = warnings;
  return context;
}

/// Our place in Google's numbering: a family is a suite/operation, an instance one of its cases.
struct Place {
  size_t family = 0;
  size_t instance = 0;
};

/// The members all entries of one benchmark share.
Json entry(const BenchmarkResult& result, Place place, const char* run_type, unsigned threads) {
  return {{"name", result.id},
          {"family_index", place.family},
          {"per_family_instance_index", place.instance},
          {"run_name", result.id},
          {"run_type", run_type},
          {"repetitions", std::max<size_t>(result.samples_ns.size(), 1)},
          {"threads", threads}};
}

void add_time(Json& json, double ns, uint64_t iterations) {
  json["iterations"] = iterations;
  json["real_time"] = number_or_null(ns);
  json["cpu_time"] = json["real_time"];  // consumers require it; the context says it is a copy
  json["time_unit"] = "ns";
}

/// Rates when one iteration takes `ns`.
void add_rates(Json& json, const WorkDone& work, double ns) {
  const auto add = [&](const char* name, double amount) {
    const double rate = amount * 1e9 / ns;
    if (amount > 0 && std::isfinite(rate)) json[name] = rate;
  };
  add("bytes_per_second", work.bytes_read + work.bytes_written);
  add("items_per_second", work.items);
  add("elements_per_second", work.elements);
  add("tokens_per_second", work.tokens);
  add("flops_per_second", work.flops);
}

void add_facts(Json& json, const BenchmarkResult& result) {
  if (result.memory) {
    json["allocs_per_iter"] = result.memory->allocations;
    json["max_bytes_used"] = result.memory->peak_bytes;
    json["total_allocated_bytes"] = result.memory->allocated_bytes;
  }
  if (result.limit) {
    json["label"] =
        fmt::format("{} of {}", human_percent(result.limit->share), result.limit->limit);
  }
}

void add_measured(Json& list, const BenchmarkResult& result, Place place, unsigned threads) {
  for (size_t i = 0; i < result.samples_ns.size(); ++i) {
    Json json = entry(result, place, "iteration", threads);
    json["repetition_index"] = i;
    add_time(json, result.samples_ns[i], result.iterations_per_sample);
    add_rates(json, result.work, result.samples_ns[i]);
    add_facts(json, result);
    list.push_back(std::move(json));
  }
  const auto aggregate = [&](const char* name, double ns, bool has_rate) {
    Json json = entry(result, place, "aggregate", threads);
    json["name"] = result.id + "_" + name;
    json["aggregate_name"] = name;
    json["aggregate_unit"] = "time";
    add_time(json, ns, result.samples_ns.size());
    if (has_rate) add_rates(json, result.work, ns);
    add_facts(json, result);
    list.push_back(std::move(json));
  };
  aggregate("mean", result.statistics->mean, false);
  aggregate("median", result.statistics->median, true);
  aggregate("stddev", result.statistics->sd, false);
}

/// As Google writes a benchmark that called SkipWithError: zeros, and error_occurred beside them.
Json not_measured(const BenchmarkResult& result, Place place, unsigned threads) {
  Json json = entry(result, place, "iteration", threads);
  json["repetitions"] = 1;
  json["repetition_index"] = 0;
  json["error_occurred"] = true;
  json["error_message"] = result.status == Status::ok
                              ? std::string(outcome_word(result))
                              : fmt::format("{}: {}", name_of(result.status), result.reason);
  if (result.status == Status::skipped) {
    json["skipped"] = true;
    json["skip_message"] = result.reason;
  }
  add_time(json, 0, 0);
  return json;
}

}  // namespace

std::string to_gbench(const RunRecord& record) {
  Json list = Json::array();
  std::map<std::string, Place> families;
  for (const auto& result : record.benchmarks) {
    const auto [family, is_new] =
        families.try_emplace(result.suite + "/" + result.operation, Place{families.size(), 0});
    const Place place = family->second;
    ++family->second.instance;
    if (result.status == Status::ok && result.statistics) {
      add_measured(list, result, place, record.threads);
    } else {
      list.push_back(not_measured(result, place, record.threads));
    }
  }
  const Json json{{"context", context_of(record)}, {"benchmarks", std::move(list)}};
  return json_document(json);
}

}  // namespace trilobite
