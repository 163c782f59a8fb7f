#include "device/device_list.hpp"

#include <fmt/format.h>

#include <array>

#include "device/reference/reference_device.hpp"

namespace trilobite {
namespace {

std::string always_available() { return ""; }

constexpr std::array kDevices{
    DeviceEntry{"reference", "every operation as its definition, in double; decides what is right",
                always_available, open_reference_device},
};

}  // namespace

std::span<const DeviceEntry> all_devices() { return kDevices; }

Result<std::unique_ptr<Device>> open_device(std::string_view name, const DeviceOptions& options) {
  std::string known;
  for (const auto& entry : kDevices) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
    if (entry.name != name) continue;
    if (auto reason = entry.why_unavailable(); !reason.empty()) {
      return fail(fmt::format("device '{}' cannot be used: {}", name, reason),
                  ErrorKind::environment);
    }
    auto device = entry.open(options);
    if (!device) return fail_from(device, fmt::format("opening device '{}'", name));
    return device;
  }
  return fail(fmt::format("there is no device '{}'; known are {}", name, known));
}

}  // namespace trilobite
