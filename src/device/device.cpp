#include "device/device.hpp"

namespace trilobite {

Result<void> Device::check_supported(const OpCall& call) const {
  auto reason = why_unsupported(call.op, call.out.dtype());
  if (reason.empty()) return {};
  return fail(std::move(reason), ErrorKind::environment);
}

}  // namespace trilobite
