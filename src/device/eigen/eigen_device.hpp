#pragma once
// Device `eigen`: the Eigen template library, compiled for several instruction sets and run on our
// own threads, because Eigen alone would use SSE2 and one thread.

#include <memory>
#include <string>

#include "device/device.hpp"

namespace trilobite {

/// Empty when this build contains the library, else how to get it.
std::string why_no_eigen();

Result<std::unique_ptr<Device>> open_eigen_device(const DeviceOptions& options);

}  // namespace trilobite
