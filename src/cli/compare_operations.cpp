#include "cli/compare_operations.hpp"

#include <optional>

#include "cli/compare_config.hpp"
#include "device/device_list.hpp"
#include "device/op.hpp"
#include "op_benchmark.hpp"

namespace trilobite::cli {
namespace {

// Operations that configurations may name although this version has no kernel for them.
constexpr const char* kLater[] = {"quantize", "dequantize", "bitlinear"};

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

void skip_what_comes_later(Bench& p, const std::string& name) {
  p.skip("'" + name + "' needs the low-bit formats, which this version does not have");
}

}  // namespace

std::set<std::string> compare_operation_names() {
  std::set<std::string> names{"multiply", "gelu"};
  for (const Op op : all_ops()) names.insert(std::string(name_of(op)));
  names.insert(std::begin(kLater), std::end(kLater));
  return names;
}

std::vector<BenchmarkDefinition> compare_definitions(const CompareConfig& config) {
  std::vector<std::string> shapes;
  for (const auto& size : config.tensor_sizes) shapes.push_back(size.to_string());
  const auto cases = benchmarks::op_cases(config.data_types, shapes, device_names(config));
  std::vector<BenchmarkDefinition> definitions;
  for (const auto& operation : config.operations) {
    const auto op = op_named(operation);
    definitions.push_back({.suite = "compare",
                           .operation = operation,
                           .cases = [cases] { return cases; },
                           .body =
                               [op, operation](Bench& p) {
                                 if (op) return benchmarks::run_op(p, *op);
                                 skip_what_comes_later(p, operation);
                               }});
  }
  return definitions;
}

}  // namespace trilobite::cli
