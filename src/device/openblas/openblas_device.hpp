#pragma once
// Device `openblas`: the few operations that OpenBLAS has, through its CBLAS interface.

#include <memory>

#include "device/device.hpp"

namespace trilobite {

Result<std::unique_ptr<Device>> open_openblas_device(const DeviceOptions& options);

}  // namespace trilobite
