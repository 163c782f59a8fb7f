#pragma once
// The configuration file of `trilobite compare`: tensor_sizes, operations, devices, data_types,
// warm-up and measurement iterations, timeout.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "tensor/shape.hpp"

namespace trilobite::cli {

struct CompareConfig {
  std::vector<Shape> tensor_sizes{{256, 256}, {1024, 1024}};
  std::vector<std::string> operations{"matmul",  "add",       "multiply", "sum",
                                      "softmax", "gelu_tanh", "rmsnorm"};
  std::vector<std::string> devices;  // empty: every device that is usable here
  std::vector<std::string> data_types{"f32", "f16", "bf16"};
  std::optional<uint64_t> warmup_iterations;       // at least this many, besides the warm-up time
  std::optional<uint64_t> measurement_iterations;  // samples
  std::optional<std::chrono::nanoseconds> timeout;
};

/// Wrong types, unknown keys, unknown names and impossible sizes are errors that say where.
Result<CompareConfig> parse_compare_config(std::string_view text);
Result<CompareConfig> load_compare_config(const Path& path);

}  // namespace trilobite::cli
