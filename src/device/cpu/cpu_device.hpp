#pragma once
// Device `cpu`: every operation on our own kernels and threads, for products the best library that
// this build has, where ours is beaten.

#include <memory>

#include "device/device.hpp"

namespace trilobite {

/// Fails when options.isa is unknown or not available here.
Result<std::unique_ptr<Device>> open_cpu_device(const DeviceOptions& options);

}  // namespace trilobite
