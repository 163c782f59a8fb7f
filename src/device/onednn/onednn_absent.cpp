// Stands in for onednn_device.cpp in builds without the library.
#include "device/onednn/onednn_device.hpp"

namespace trilobite {

std::string why_no_onednn() {
  return "this build was made without oneDNN; apt install libdnnl-dev and build again";
}

Result<std::unique_ptr<Device>> open_onednn_device(const DeviceOptions&) {
  return fail(why_no_onednn(), ErrorKind::environment);
}

}  // namespace trilobite
