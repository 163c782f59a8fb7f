#include "device/device_list.hpp"

#include <fmt/format.h>

#include <array>

#include "device/absent_devices.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/eigen/eigen_device.hpp"
#include "device/onednn/onednn_device.hpp"
#include "device/openblas/openblas_device.hpp"
#include "device/openblas/openblas_library.hpp"
#include "device/reference/reference_device.hpp"

namespace trilobite {
namespace {

/// More than any machine has; protects from typing errors that would start a million threads.
constexpr unsigned kMaxThreads = 4096;

std::string always_available() { return ""; }

constexpr std::array kDevices{
    DeviceEntry{"reference", "every operation as its definition, in double; decides what is right",
                always_available, open_reference_device},
    DeviceEntry{"cpu", "own kernels for every instruction set, and the best library for products",
                always_available, open_cpu_device},
    DeviceEntry{"openblas", "OpenBLAS: products, sums and transposes of f32", why_no_openblas,
                open_openblas_device},
    DeviceEntry{"onednn", "Intel's oneDNN, one primitive per operation", why_no_onednn,
                open_onednn_device},
    DeviceEntry{"eigen", "the Eigen template library on our threads", why_no_eigen,
                open_eigen_device},
    DeviceEntry{"opencl", "GPUs and CPUs through OpenCL", why_no_opencl, nullptr},
    DeviceEntry{"vulkan", "GPUs through Vulkan compute", why_no_vulkan, nullptr},
    DeviceEntry{"cuda", "NVIDIA GPUs", why_no_cuda, nullptr},
    DeviceEntry{"rocm", "AMD GPUs", why_no_rocm, nullptr},
    DeviceEntry{"metal", "Apple GPUs", why_no_metal, nullptr},
    DeviceEntry{"mlx", "Apple's array library", why_no_mlx, nullptr},
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
    if (options.threads < 1 || options.threads > kMaxThreads) {
      return fail(fmt::format("device '{}' takes 1 to {} threads, not {}", name, kMaxThreads,
                              options.threads));
    }
    auto device = entry.open(options);
    if (!device) return fail_from(device, fmt::format("opening device '{}'", name));
    return device;
  }
  return fail(fmt::format("there is no device '{}'; known are {}", name, known));
}

}  // namespace trilobite
