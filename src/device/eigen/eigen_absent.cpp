// Stands in for eigen_device.cpp in builds without the library.
#include "device/eigen/eigen_device.hpp"

namespace trilobite {

std::string why_no_eigen() {
  return "this build was made without Eigen; apt install libeigen3-dev and build again";
}

Result<std::unique_ptr<Device>> open_eigen_device(const DeviceOptions&) {
  return fail(why_no_eigen(), ErrorKind::environment);
}

}  // namespace trilobite
