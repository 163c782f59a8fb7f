#pragma once
// Device `reference`: every operation as its definition, in double, one thread. It decides what
// the other devices must answer, so it is written to be obviously right, not fast.

#include <memory>

#include "device/device.hpp"

namespace trilobite {

Result<std::unique_ptr<Device>> open_reference_device(const DeviceOptions& options);

}  // namespace trilobite
