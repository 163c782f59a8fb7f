#pragma once
// Which of the registered benchmarks run: by suite, by regular expression on the id.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "trilobite/bench.hpp"

namespace trilobite {

/// One case of one definition. The definition outlives it.
struct SelectedBenchmark {
  const BenchmarkDefinition* definition;
  Case parameters;
  std::string id;
};

std::string benchmark_id(const BenchmarkDefinition& definition, const Case& parameters);

struct Filter {
  std::string pattern;              // ECMAScript, searched anywhere in the id; empty: all
  std::vector<std::string> suites;  // empty: all
};

/// Errors: a malformed pattern, an unknown suite (lists the known ones), two benchmarks with one
/// id. Nothing selected is an error too: a typo must not look like success.
Result<std::vector<SelectedBenchmark>> select_benchmarks(
    std::span<const BenchmarkDefinition> definitions, const Filter& filter);

}  // namespace trilobite
