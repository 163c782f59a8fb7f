#include "cli/compare_operations.hpp"

#include <optional>

#include "cli/compare_config.hpp"
#include "device/device_list.hpp"
#include "device/op.hpp"
#include "lowbit_ops.hpp"
#include "op_benchmark.hpp"

namespace trilobite::cli {
namespace {

std::optional<Op> op_named(const std::string& name) {
  if (name == "multiply") return Op::mul;
  if (name == "gelu") return Op::gelu_tanh;
  return op_from_name(name);
}

std::vector<std::string> device_names(const CompareConfig& config) {
  if (!config.devices.empty()) return config.devices;
  std::vector<std::string> usable;
  for (const auto& device : all_devices()) {
    if (device.why_unavailable().empty()) usable.emplace_back(device.name);
  }
  return usable;
}

}  // namespace

std::set<std::string> compare_operation_names() {
  std::set<std::string> names{"multiply", "gelu"};
  for (const Op op : all_ops()) names.insert(std::string(name_of(op)));
  names.insert(benchmarks::lowbit_op_names().begin(), benchmarks::lowbit_op_names().end());
  return names;
}

std::vector<BenchmarkDefinition> compare_definitions(const CompareConfig& config) {
  std::vector<std::string> shapes;
  for (const auto& size : config.tensor_sizes) shapes.push_back(size.to_string());
  auto cases = benchmarks::op_cases(config.data_types, shapes, device_names(config));
  std::vector<BenchmarkDefinition> definitions;
  for (const auto& operation : config.operations) {
    const auto op = op_named(operation);
    definitions.push_back({.suite = "compare",
                           .operation = operation,
                           .cases = [cases] { return cases; },
                           .body =
                               [op, operation](Bench& p) {
                                 if (op) return benchmarks::run_op(p, *op);
                                 benchmarks::run_lowbit_op(p, operation);
                               }});
  }
  return definitions;
}

}  // namespace trilobite::cli
