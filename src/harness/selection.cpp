#include "harness/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <set>

namespace trilobite {
namespace {

Result<std::optional<std::regex>> compile(const std::string& pattern) {
  if (pattern.empty()) return std::nullopt;
  try {
    return std::regex(pattern);
  } catch (const std::regex_error& problem) {
    return fail(fmt::format("'{}' is not a regular expression: {}", pattern, problem.what()));
  }
}

Result<void> check_suites(std::span<const BenchmarkDefinition> definitions,
                          const std::vector<std::string>& suites) {
  std::set<std::string> known;
  for (const auto& definition : definitions) known.insert(definition.suite);
  for (const auto& suite : suites) {
    if (!known.contains(suite)) {
      return fail(
          fmt::format("there is no suite '{}'; the suites are {}", suite, fmt::join(known, ", ")));
    }
  }
  return {};
}

}  // namespace

std::string benchmark_id(const BenchmarkDefinition& definition, const Case& parameters) {
  auto id = fmt::format("{}/{}/{}/{}/{}", definition.suite, definition.operation, parameters.dtype,
                        parameters.device, parameters.shape);
  for (const auto& [name, value] : parameters.parameters) id += fmt::format("/{}={}", name, value);
  return id;
}

Result<std::vector<SelectedBenchmark>> select_benchmarks(
    std::span<const BenchmarkDefinition> definitions, const Filter& filter) {
  const auto pattern = compile(filter.pattern);
  if (!pattern) return fail_from(pattern);
  if (auto known = check_suites(definitions, filter.suites); !known) return fail_from(known);
  std::vector<SelectedBenchmark> selected;
  std::set<std::string> ids;
  for (const auto& definition : definitions) {
    const bool wanted = filter.suites.empty() ||
                        std::ranges::find(filter.suites, definition.suite) != filter.suites.end();
    if (!wanted) continue;
    for (auto& parameters : definition.cases()) {
      auto id = benchmark_id(definition, parameters);
      if (*pattern && !std::regex_search(id, **pattern)) continue;
      if (!ids.insert(id).second) return fail(fmt::format("two benchmarks have the id '{}'", id));
      selected.push_back({&definition, std::move(parameters), std::move(id)});
    }
  }
  if (selected.empty()) {
    return fail(fmt::format("no benchmark matches '{}'; `--list` shows them all", filter.pattern));
  }
  return selected;
}

}  // namespace trilobite
