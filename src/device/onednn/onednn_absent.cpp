// Stands in for onednn_device.cpp and int8_product.cpp in builds without the library.
#include "device/onednn/int8_product.hpp"
#include "device/onednn/onednn_device.hpp"

namespace trilobite {

std::string why_no_onednn() {
  return "this build was made without oneDNN; apt install libdnnl-dev and build again";
}

Result<std::unique_ptr<Device>> open_onednn_device(const DeviceOptions&) {
  return fail(why_no_onednn(), ErrorKind::environment);
}

struct OnednnInt8Product::State {};
OnednnInt8Product::OnednnInt8Product(std::unique_ptr<State> state) : state_(std::move(state)) {}
OnednnInt8Product::~OnednnInt8Product() = default;
OnednnInt8Product::OnednnInt8Product(OnednnInt8Product&&) noexcept = default;
OnednnInt8Product& OnednnInt8Product::operator=(OnednnInt8Product&&) noexcept = default;

Result<OnednnInt8Product> OnednnInt8Product::create(const Int8ProductSize&, std::span<const int8_t>,
                                                    unsigned) {
  return fail(why_no_onednn(), ErrorKind::environment);
}
void OnednnInt8Product::run(const uint8_t*, int32_t*) {}
std::string OnednnInt8Product::kernel() const { return ""; }

}  // namespace trilobite
