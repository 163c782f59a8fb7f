#include "report/report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"

namespace trilobite {
namespace {

size_t number_of(std::map<std::string, size_t>& numbers, std::vector<std::string>& names,
                 const std::string& name) {
  const auto [at, is_new] = numbers.try_emplace(name, names.size());
  if (is_new) names.push_back(name);
  return at->second;
}

/// Ids that more than one run has.
std::set<std::string> shared_ids(const std::vector<ReportSource>& sources) {
  std::set<std::string> seen;
  std::set<std::string> shared;
  for (const auto& source : sources) {
    for (const auto& result : source.record.benchmarks) {
      if (!seen.insert(result.id).second) shared.insert(result.id);
    }
  }
  return shared;
}

/// The result as one of the run `name`.
BenchmarkResult attributed(BenchmarkResult result, const std::string& name) {
  const auto before = fmt::format("{}/{}/{}/", result.suite, result.operation, result.dtype);
  const auto after = before + result.device;
  auto rest = result.id.starts_with(after) ? result.id.substr(after.size()) : "/" + result.shape;
  result.device += " @" + name;
  result.id = before + result.device + rest;
  return result;
}

RunRecord join(const std::vector<ReportSource>& sources, std::vector<size_t>& source_of) {
  const auto& first = sources.front().record;
  RunRecord joined = first;
  source_of.assign(first.benchmarks.size(), 0);
  if (sources.size() == 1) return joined;
  joined.benchmarks.clear();
  joined.warnings.clear();
  source_of.clear();
  const auto shared = shared_ids(sources);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto& record = sources[i].record;
    for (const auto& result : record.benchmarks) {
      joined.benchmarks.push_back(shared.contains(result.id) ? attributed(result, sources[i].name)
                                                             : result);
      source_of.push_back(i);
    }
    joined.warnings.insert(joined.warnings.end(), record.warnings.begin(), record.warnings.end());
    joined.complete &= record.complete;
  }
  return joined;
}

std::string default_baseline(const RunRecord& record) {
  const auto is_reference = [](const BenchmarkResult& result) {
    return result.device == "reference" && result.status == Status::ok;
  };
  if (std::ranges::any_of(record.benchmarks, is_reference)) return "reference";
  return record.benchmarks.empty() ? "" : record.benchmarks.front().device;
}

}  // namespace

Facets::Facets(const RunRecord& record) {
  for (const auto& result : record.benchmarks) {
    number_of(suite_numbers_, suites, result.suite);
    number_of(device_numbers_, devices, result.device);
    number_of(dtype_numbers_, dtypes, result.dtype);
  }
}

std::string Facets::of(const BenchmarkResult& result) const {
  return fmt::format("{} {} {}", suite_numbers_.at(result.suite), device_numbers_.at(result.device),
                     dtype_numbers_.at(result.dtype));
}

size_t Facets::device_number(const BenchmarkResult& result) const {
  return device_numbers_.at(result.device);
}

ReportData report_data(std::vector<ReportSource> sources, const std::string& baseline_device) {
  TRILOBITE_CHECK(!sources.empty());
  ReportData data;
  data.sources = std::move(sources);
  data.joined = join(data.sources, data.source_of);
  data.facets = Facets(data.joined);
  data.comparison = compare_devices(
      data.joined, baseline_device.empty() ? default_baseline(data.joined) : baseline_device);
  for (size_t i = 0; i < data.joined.benchmarks.size(); ++i)
    data.index.emplace(data.joined.benchmarks[i].id, i);
  return data;
}

std::vector<const BenchmarkResult*> measured_results(const ReportData& data) {
  std::vector<const BenchmarkResult*> results;
  for (const auto& result : data.joined.benchmarks) {
    if (result.status == Status::ok && result.statistics) results.push_back(&result);
  }
  return results;
}

}  // namespace trilobite
