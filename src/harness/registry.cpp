#include <algorithm>

#include "base/error.hpp"
#include "base/parse_number.hpp"
#include "trilobite/bench.hpp"

namespace trilobite {
namespace {

// The one mutable global of the lab: benchmarks register themselves before main().
std::vector<BenchmarkDefinition>& registry() {
  static std::vector<BenchmarkDefinition> definitions;
  return definitions;
}

void set_axis(Case& target, const std::string& name, const std::string& value) {
  if (name == "dtype") {
    target.dtype = value;
  } else if (name == "device") {
    target.device = value;
  } else if (name == "shape") {
    target.shape = value;
  } else {
    target.parameters[name] = value;
  }
}

}  // namespace

std::string Bench::text(std::string_view name) const {
  const auto found = case_.parameters.find(std::string(name));
  return found == case_.parameters.end() ? std::string() : found->second;
}

int64_t Bench::number(std::string_view name) const { return parse_int(text(name)).value_or(0); }

bool register_benchmark(BenchmarkDefinition definition) {
  registry().push_back(std::move(definition));
  return true;
}

const std::vector<BenchmarkDefinition>& registered_benchmarks() { return registry(); }

Axis axis(std::string name, const std::vector<int64_t>& values) {
  Axis result{std::move(name), {}};
  for (const int64_t value : values) result.values.push_back(std::to_string(value));
  return result;
}

Axis axis(std::string name, std::vector<std::string> values) {
  return {std::move(name), std::move(values)};
}

std::vector<Case> over(const std::vector<Axis>& axes) {
  std::vector<Case> cases{Case()};
  for (const auto& axis : axes) {
    std::vector<Case> longer;
    for (const auto& base : cases) {
      for (const auto& value : axis.values) set_axis(longer.emplace_back(base), axis.name, value);
    }
    cases = std::move(longer);
  }
  return cases;
}

bool detail::register_named(std::string_view name, std::vector<Case> cases,
                            std::function<void(Bench&)> body) {
  const auto slash = name.find('/');
  TRILOBITE_CHECK(slash != std::string_view::npos);  // names are "suite/operation"
  return register_benchmark({.suite = std::string(name.substr(0, slash)),
                             .operation = std::string(name.substr(slash + 1)),
                             .cases = [cases = std::move(cases)] { return cases; },
                             .body = std::move(body)});
}

}  // namespace trilobite
