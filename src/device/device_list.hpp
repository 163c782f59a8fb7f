#pragma once
// Every device the project knows, usable here or not: the one place to add a line for a new one.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "device/device.hpp"

namespace trilobite {

struct DeviceEntry {
  std::string_view name;
  std::string_view what;  // one line for people
  /// Empty when the device can be opened on this machine, else what is missing and how to get it.
  std::string (*why_unavailable)();
  /// nullptr for devices that this build does not contain.
  Result<std::unique_ptr<Device>> (*open)(const DeviceOptions&);
};

/// reference, cpu, openblas, onednn, eigen, opencl, vulkan, cuda, rocm, metal, mlx.
std::span<const DeviceEntry> all_devices();

/// Unknown names are errors that list the known ones (kind input); devices that this machine lacks
/// are errors with the reason (kind environment).
Result<std::unique_ptr<Device>> open_device(std::string_view name, const DeviceOptions& options);

}  // namespace trilobite
