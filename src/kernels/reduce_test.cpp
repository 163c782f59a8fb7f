#include "kernels/reduce.hpp"

#include <cmath>
#include <limits>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

class Reduce : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(Reduce);

std::vector<double> sums_of(DType dtype, const TypedArray& x) {
  std::vector<double> sums((x.size() + kSumBlock - 1) / kSumBlock);
  sum_blocks({.dtype = dtype, .x = x.data(), .count = x.size(), .block_sums = sums.data()});
  return sums;
}

TEST_P(Reduce, block_sums_are_within_their_bound) {
  for (const auto dtype : kFloatTypes) {
    for (const size_t count : awkward_sizes()) {
      const auto x = TypedArray::normal(dtype, count, 5);
      const auto sums = sums_of(dtype, x);
      for (size_t block = 0; block < sums.size(); ++block) {
        double exact = 0;
        double magnitude = 0;
        for (size_t i = block * kSumBlock; i < std::min(count, (block + 1) * kSumBlock); ++i) {
          exact += x[i];
          magnitude += std::abs(x[i]);
        }
        ASSERT_NEAR(sums[block], exact, 70 * 0x1p-24 * magnitude) << count;
      }
    }
  }
}

TEST_P(Reduce, bits_are_those_of_every_other_instruction_set) {
  for (const size_t count : awkward_sizes()) {
    const auto x = TypedArray::normal(DType::f32, count, 6);
    const auto sums = sums_of(DType::f32, x);
    ASSERT_TRUE(set_isa("scalar"));
    EXPECT_EQ(sums_of(DType::f32, x), sums) << count;
    ASSERT_TRUE(set_isa(GetParam()));
  }
}

TEST_P(Reduce, nan_and_infinity_reach_the_sum) {
  auto x = TypedArray::normal(DType::f32, 1001, 7);
  x.set(1000, std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isinf(sums_of(DType::f32, x)[0]));
  x.set(500, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(std::isnan(sums_of(DType::f32, x)[0]));
}

}  // namespace
}  // namespace trilobite::kernels
