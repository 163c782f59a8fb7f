#pragma once
// Devices that this build does not contain yet. Each probe really looks at the machine, so that
// the user learns whether only we are missing or the driver as well.

#include <string>

namespace trilobite {

std::string why_no_opencl();
std::string why_no_vulkan();
std::string why_no_cuda();
std::string why_no_rocm();
std::string why_no_metal();
std::string why_no_mlx();

}  // namespace trilobite
