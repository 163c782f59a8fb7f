#include "kernels/randn.hpp"

#include <bit>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

class Randn : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(Randn);

TEST_P(Randn, has_the_bits_of_normal_at) {
  for (const uint64_t first : {uint64_t{0}, uint64_t{4096}, (uint64_t{1} << 34) - 8}) {
    for (const size_t count : awkward_sizes()) {
      std::vector<float> out(count + 1, 7.0f);
      randn({.seed = 0x123456789ABCDEF0,
             .stream = 3,
             .first = first,
             .out = out.data(),
             .count = count});
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(std::bit_cast<uint32_t>(out[i]),
                  std::bit_cast<uint32_t>(normal_at(0x123456789ABCDEF0, 3, first + i)))
            << first << " + " << i;
      }
      EXPECT_EQ(out[count], 7.0f);
    }
  }
}

}  // namespace
}  // namespace trilobite::kernels
