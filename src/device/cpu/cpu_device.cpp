#include "device/cpu/cpu_device.hpp"

#include <fmt/format.h>

#include <optional>

#include "device/cpu/cpu_ops.hpp"
#include "device/cpu/matmul_chooser.hpp"
#include "device/isa_level.hpp"
#include "kernels/isa.hpp"

namespace trilobite {
namespace {

class CpuDevice final : public Device {
 public:
  CpuDevice(const DeviceOptions& options, std::string_view isa)
      : isa_(isa), workspace_(options.threads) {
    // Libraries choose their own instruction set and order of sums.
    if (!options.deterministic && options.isa.empty()) chooser_.emplace(options);
  }

  std::string_view name() const override { return "cpu"; }

  std::string description() const override {
    return fmt::format("own kernels, {}, {} thread{}; {}: {}", isa_, workspace_.pool.threads(),
                       workspace_.pool.threads() == 1 ? "" : "s", workspace_.cpu.model,
                       product_features(workspace_.cpu));
  }

  std::string why_unsupported(Op op, DType dtype) const override {
    return why_undefined(op, dtype);
  }

  Result<void> run(const OpCall& call) override {
    if (auto supported = check_supported(call); !supported) return supported;
    // Another device of this process may have chosen another one.
    if (kernels::current_isa() != isa_) {
      if (auto chosen = kernels::set_isa(isa_); !chosen) return chosen;
    }
    if (Device* rival = faster_for(call)) {
      count(name_of(call.op), call, rival->name());
      return rival->run(call);
    }
    const auto kernel = run_cpu_op(workspace_, call);
    if (!kernel) return fail_from(kernel);
    count(*kernel, call, isa_);
    return {};
  }

 private:
  void count(std::string_view kernel, const OpCall& call, std::string_view by) {
    count_kernel(fmt::format("{}_{}/{}", kernel, name_of(call.out.dtype()), by));
  }

  /// The device that multiplies these matrices faster than our own kernel does, if there is one.
  Device* faster_for(const OpCall& call) {
    if (!chooser_ || call.op != Op::matmul || call.out.dtype() != DType::f32) return nullptr;
    return chooser_->choose(call, [this](const OpCall& probe) -> Result<void> {
      const auto kernel = run_cpu_op(workspace_, probe);
      if (!kernel) return fail_from(kernel);
      return {};
    });
  }

  std::string isa_;
  CpuWorkspace workspace_;
  std::optional<MatmulChooser> chooser_;  // none where the algorithm is fixed
};

}  // namespace

Result<std::unique_ptr<Device>> open_cpu_device(const DeviceOptions& options) {
  if (!options.isa.empty()) {
    if (auto chosen = kernels::set_isa(options.isa); !chosen) return fail_from(chosen);
  }
  return std::make_unique<CpuDevice>(options, kernels::current_isa());
}

}  // namespace trilobite
