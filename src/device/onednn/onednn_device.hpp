#pragma once
// Device `onednn`: Intel's oneDNN, one primitive per operation. Nothing else knows the library.

#include <memory>
#include <string>

#include "device/device.hpp"

namespace trilobite {

/// Empty when this build contains the library, else how to get it.
std::string why_no_onednn();

/// The instruction set belongs to the process: it can be narrowed once, before the first primitive,
/// and a later open that asks for more is an error.
Result<std::unique_ptr<Device>> open_onednn_device(const DeviceOptions& options);

}  // namespace trilobite
