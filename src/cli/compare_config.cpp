#include "cli/compare_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "cli/compare_operations.hpp"
#include "device/device_list.hpp"
#include "tensor/dtype.hpp"

namespace trilobite::cli {
namespace {

Result<std::vector<int64_t>> extents_from(const Json& json, const std::string& place) {
  std::vector<int64_t> extents;
  if (!json.is_array())
    return fail(fmt::format("{}: must be a list of extents such as [64, 64]", place));
  for (const auto& extent : json) {
    if (!extent.is_number_integer())
      return fail(fmt::format("{}: every extent must be a whole number", place));
    extents.push_back(extent.get<int64_t>());
  }
  return extents;
}

Result<std::vector<Shape>> sizes_from(const Json& json) {
  std::vector<Shape> sizes;
  for (size_t i = 0; i < json.size(); ++i) {
    const auto place = fmt::format("tensor_sizes[{}]", i);
    const auto extents = extents_from(json[i], place);
    if (!extents) return fail_from(extents);
    if (extents->size() < 2 || extents->size() > 4) {
      return fail(
          fmt::format("{}: has {} extents, comparisons need 2 to 4", place, extents->size()));
    }
    if (std::ranges::any_of(*extents, [](int64_t extent) { return extent < 1; })) {
      return fail(fmt::format("{}: {} holds nothing to measure; every extent must be at least 1",
                              place, fmt::join(*extents, "x")));
    }
    const auto shape = Shape::from(*extents);
    if (!shape) return fail_from(shape, place);
    sizes.push_back(*shape);
  }
  return sizes;
}

/// Each name must be one of `known`, and none may come twice.
Result<void> check_names(const char* key, const std::vector<std::string>& names,
                         const std::set<std::string>& known) {
  std::set<std::string> seen;
  for (const auto& name : names) {
    if (!known.contains(name)) {
      return fail(
          fmt::format("{}: '{}' is not known; known are {}", key, name, fmt::join(known, ", ")));
    }
    if (!seen.insert(name).second) return fail(fmt::format("{}: '{}' is named twice", key, name));
  }
  if (names.empty()) return fail(fmt::format("{}: the list is empty", key));
  return {};
}

std::set<std::string> known_devices() {
  std::set<std::string> names;
  for (const auto& device : all_devices()) names.insert(std::string(device.name));
  return names;
}

Result<void> check_config(const CompareConfig& config) {
  if (auto known = check_names("operations", config.operations, compare_operation_names()); !known)
    return known;
  if (auto known = check_names("data_types", config.data_types, {"f32", "f16", "bf16"}); !known)
    return known;
  if (config.tensor_sizes.empty()) return fail("tensor_sizes: the list is empty");
  if (!config.devices.empty()) return check_names("devices", config.devices, known_devices());
  return {};
}

}  // namespace

Result<CompareConfig> parse_compare_config(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return fail_from(json);
  ObjectReader reader(*json, "");
  CompareConfig config;
  if (const Json* sizes = reader.array("tensor_sizes")) {
    const auto shapes = sizes_from(*sizes);
    if (!shapes) return fail_from(shapes);
    config.tensor_sizes = *shapes;
  }
  const auto iterations = [&](const char* key, int64_t minimum) -> std::optional<uint64_t> {
    const auto value = reader.integer(key, {minimum, 1'000'000});
    return value ? std::optional(static_cast<uint64_t>(*value)) : std::nullopt;
  };
  config.warmup_iterations = iterations("warmup_iterations", 0);
  config.measurement_iterations = iterations("measurement_iterations", 1);
  if (auto operations = reader.texts("operations")) config.operations = *std::move(operations);
  if (auto devices = reader.texts("devices")) {
    config.devices = *std::move(devices);
    if (config.devices.empty()) reader.problem("devices", "the list is empty");
  }
  if (auto types = reader.texts("data_types")) config.data_types = *std::move(types);
  config.timeout = reader.duration("timeout");
  if (auto done = reader.finish(); !done) return fail_from(done);
  if (auto right = check_config(config); !right) return fail_from(right);
  return config;
}

Result<CompareConfig> load_compare_config(const Path& path) {
  const auto text = read_file(path, size_t{16} << 20);
  if (!text) return fail_from(text);
  auto config = parse_compare_config(*text);
  if (!config) return fail_from(config, path.string());
  return config;
}

}  // namespace trilobite::cli
