#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/thread_pool.hpp"
#include "cli/exit_code.hpp"
#include "cli/subcommands.hpp"
#include "kernels/isa.hpp"
#include "op_benchmark.hpp"

namespace trilobite::cli {
namespace {

std::string to_text(const std::vector<benchmarks::DeviceLine>& lines) {
  std::string text;
  for (const auto& line : lines) {
    text += fmt::format("{:<10} {:<8} {}\n{:20}{}\n", line.name, line.usable ? "usable" : "missing",
                        line.what, "", line.description);
  }
  const auto usable = std::ranges::count(lines, true, &benchmarks::DeviceLine::usable);
  text +=
      fmt::format("\n{} of {} devices are usable here; instruction sets of our own kernels: {}\n",
                  usable, lines.size(), fmt::join(kernels::available_isas(), ", "));
  return text;
}

std::string to_json_text(const std::vector<benchmarks::DeviceLine>& lines) {
  Json json = Json::array();
  for (const auto& line : lines) {
    json.push_back({{"name", line.name},
                    {"usable", line.usable},
                    {"what", line.what},
                    {"description", line.description}});
  }
  return json_document(json);
}

}  // namespace

namespace {

/// The names that the suites had where people come from (docs/coming-from.md).
std::map<std::string, std::vector<std::string>> suite_sets() {
  return {
      {"comprehensive_performance_comparison",
       {"matmul", "tensor_ops", "quantization", "bitlinear", "activations", "memory", "workloads"}},
      {"quantization_performance", {"quantization", "bitlinear", "lowbit"}},
      {"regression_performance_tests", {"matmul", "activations", "lowbit", "memory"}},
      {"tensor_operations", {"tensor_ops", "matmul", "large_arrays"}},
      {"tensor_ops_bench", {"tensor_ops"}},
      {"model_inference_bench", {"model_inference"}},
      {"tokenizer_bench", {"tokenizers"}},
      {"quantization_bench", {"quantization"}},
      {"memory_bench", {"memory"}}};
}

}  // namespace

ProgramFacts engine_facts() {
  return {.set_isa = [](const std::string& isa) { return kernels::set_isa(isa); },
          .devices =
              [] {
                std::vector<DeviceFacts> facts;
                for (auto& line : benchmarks::describe_devices({.threads = usable_cpus()})) {
                  facts.push_back({std::move(line.name), line.usable, std::move(line.description)});
                }
                return facts;
              },
          .suite_sets = suite_sets()};
}

int run_devices(const Arguments& arguments) {
  CLI::App app("Lists every device: usable here, or what is missing", "devices");
  std::string format = "human";
  app.add_option("--format", format, "human or json")->check(CLI::IsMember({"human", "json"}));
  if (const auto over = parse(app, arguments)) return *over;
  const auto lines = benchmarks::describe_devices({.threads = usable_cpus()});
  const auto printed = print(format == "json" ? to_json_text(lines) : to_text(lines));
  return printed ? kFine : report_error(printed.error());
}

}  // namespace trilobite::cli
