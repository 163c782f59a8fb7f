#include "device/absent_devices.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "base/shared_library.hpp"

namespace trilobite {
namespace {

std::optional<SharedLibrary> find_driver(const char* file_name) {
  return SharedLibrary::open(file_name, SharedLibrary::AfterUse::keep);
}

std::string sentence(std::string_view device, std::string_view found) {
  return fmt::format("this build has no {} device yet; {}", device, found);
}

std::string counted(int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

// The few prototypes that the probes need, as in the headers of each interface.
using ClGetPlatformIDs = int32_t(uint32_t, void**, uint32_t*);
using ClGetDeviceIDs = int32_t(void*, uint64_t, uint32_t, void**, uint32_t*);
constexpr uint64_t kClDeviceTypeAll = 0xFFFFFFFF;

struct VkInstanceCreateInfo {
  int32_t type = 1;  // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
  const void* next = nullptr;
  uint32_t flags = 0;
  const void* application = nullptr;
  uint32_t layer_count = 0;
  const char* const* layers = nullptr;
  uint32_t extension_count = 0;
  const char* const* extensions = nullptr;
};
using VkCreateInstance = int32_t(const VkInstanceCreateInfo*, const void*, void**);
using VkEnumeratePhysicalDevices = int32_t(void*, uint32_t*, void**);
using VkDestroyInstance = void(void*, const void*);

using CuInit = int(unsigned);
using CuDeviceGetCount = int(int*);
using HipGetDeviceCount = int(int*);

}  // namespace

std::string why_no_opencl() {
  const auto loader = find_driver("libOpenCL.so.1");
  if (!loader) return sentence("OpenCL", "no OpenCL loader (libOpenCL.so.1) was found either");
  const auto get_platforms = loader->function<ClGetPlatformIDs>("clGetPlatformIDs");
  const auto get_devices = loader->function<ClGetDeviceIDs>("clGetDeviceIDs");
  if (!get_platforms || !get_devices) {
    return sentence("OpenCL", "libOpenCL.so.1 was found but is not an OpenCL loader");
  }
  uint32_t platform_count = 0;
  get_platforms(0, nullptr, &platform_count);
  std::vector<void*> platforms(platform_count);
  if (platform_count > 0) get_platforms(platform_count, platforms.data(), nullptr);
  int64_t devices = 0;
  for (void* platform : platforms) {
    uint32_t count = 0;
    if (get_devices(platform, kClDeviceTypeAll, 0, nullptr, &count) == 0) devices += count;
  }
  return sentence("OpenCL",
                  fmt::format("an OpenCL loader with {} and {} was found",
                              counted(platform_count, "platform"), counted(devices, "device")));
}

std::string why_no_vulkan() {
  const auto loader = find_driver("libvulkan.so.1");
  if (!loader) return sentence("Vulkan", "no Vulkan loader (libvulkan.so.1) was found either");
  const auto create = loader->function<VkCreateInstance>("vkCreateInstance");
  const auto list = loader->function<VkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices");
  const auto destroy = loader->function<VkDestroyInstance>("vkDestroyInstance");
  if (!create || !list || !destroy) {
    return sentence("Vulkan", "libvulkan.so.1 was found but is not a Vulkan loader");
  }
  void* instance = nullptr;
  const VkInstanceCreateInfo info;
  if (const int32_t status = create(&info, nullptr, &instance); status != 0) {
    return sentence("Vulkan", fmt::format("a Vulkan loader without a usable driver was found "
                                          "(vkCreateInstance gave {})",
                                          status));
  }
  uint32_t count = 0;
  list(instance, &count, nullptr);
  destroy(instance, nullptr);
  return sentence("Vulkan",
                  fmt::format("a Vulkan loader with {} was found", counted(count, "device")));
}

std::string why_no_cuda() {
  const auto driver = find_driver("libcuda.so.1");
  if (!driver) return sentence("CUDA", "no NVIDIA driver (libcuda.so.1) was found either");
  const auto init = driver->function<CuInit>("cuInit");
  const auto get_count = driver->function<CuDeviceGetCount>("cuDeviceGetCount");
  if (!init || !get_count) return sentence("CUDA", "libcuda.so.1 was found but is not a driver");
  if (const int status = init(0); status != 0) {
    return sentence("CUDA", fmt::format("an NVIDIA driver that does not start was found "
                                        "(cuInit gave {})",
                                        status));
  }
  int count = 0;
  get_count(&count);
  return sentence("CUDA",
                  fmt::format("an NVIDIA driver with {} was found", counted(count, "device")));
}

std::string why_no_rocm() {
  for (const char* name : {"libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    const auto runtime = find_driver(name);
    if (!runtime) continue;
    const auto get_count = runtime->function<HipGetDeviceCount>("hipGetDeviceCount");
    int count = 0;
    if (!get_count || get_count(&count) != 0) count = 0;
    return sentence("ROCm",
                    fmt::format("a HIP runtime with {} was found", counted(count, "device")));
  }
  return sentence("ROCm", "no HIP runtime (libamdhip64.so) was found either");
}

std::string why_no_metal() { return sentence("Metal", "it needs macOS on Apple Silicon"); }

std::string why_no_mlx() { return sentence("MLX", "it needs macOS on Apple Silicon"); }

}  // namespace trilobite
