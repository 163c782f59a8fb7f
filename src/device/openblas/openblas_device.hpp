#pragma once
// Device `openblas`: the few operations that OpenBLAS has, through its CBLAS interface.

#include <memory>
#include <string>

#include "device/device.hpp"

namespace trilobite {

/// Empty when the library is installed, else what to install.
std::string why_no_openblas();

Result<std::unique_ptr<Device>> open_openblas_device(const DeviceOptions& options);

}  // namespace trilobite
