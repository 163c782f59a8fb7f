#include "device/reference/reference_device.hpp"

#include <fmt/format.h>

#include "device/reference/reference_ops.hpp"

namespace trilobite {
namespace {

class ReferenceDevice final : public Device {
 public:
  std::string_view name() const override { return "reference"; }
  std::string description() const override {
    return "plain loops in double, rounded once at the end, 1 thread";
  }
  std::string why_unsupported(Op op, DType dtype) const override {
    return why_undefined(op, dtype);
  }
  Result<void> run(const OpCall& call) override {
    if (auto supported = check_supported(call); !supported) return supported;
    count_kernel(fmt::format("reference/{}", name_of(call.op)));
    compute_reference(call);
    return {};
  }
};

}  // namespace

Result<std::unique_ptr<Device>> open_reference_device(const DeviceOptions&) {
  return std::make_unique<ReferenceDevice>();
}

}  // namespace trilobite
