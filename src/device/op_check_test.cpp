#include "device/op_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/op_cases.hpp"
#include "device/reference/reference_ops.hpp"

namespace trilobite {
namespace {

/// The case of this size, answered by the reference.
OpCase answered(Op op, DType dtype, int64_t elements) {
  for (auto& test_case : cases_of(op, dtype)) {
    if (test_case.call.inputs.at(0).elements() != elements) continue;
    compute_reference(test_case.call);
    return std::move(test_case);
  }
  throw std::logic_error("no such case");
}

TEST(OpCheck, the_reference_passes_its_own_check_everywhere) {
  for (const Op op : all_ops()) {
    for (const DType dtype : op_dtypes()) {
      for (auto& test_case : cases_of(op, dtype)) {
        compute_reference(test_case.call);
        const auto check = check_output(test_case.call, expectation_of(test_case.call).value());
        EXPECT_TRUE(check.passed) << name_of(op) << " " << test_case.what << check.problem;
        EXPECT_EQ(check.max_error, 0);
      }
    }
  }
}

TEST(OpCheck, a_lost_term_of_a_sum_is_noticed) {
  auto test_case = answered(Op::sum, DType::f32, 91);
  const auto expected = expectation_of(test_case.call).value();
  *test_case.call.out.data<float>() -= load_as_float(test_case.call.inputs[0], 17);
  EXPECT_FALSE(check_output(test_case.call, expected).passed);
}

TEST(OpCheck, sums_accumulated_in_half_precision_are_noticed) {
  auto test_case = answered(Op::matmul, DType::f32, 257 * 129);
  const auto expected = expectation_of(test_case.call).value();
  float& element = test_case.call.out.data<float>()[100];
  element += std::ldexp(element, -9);
  const auto check = check_output(test_case.call, expected);
  EXPECT_FALSE(check.passed);
  EXPECT_EQ(check.problem.find("element 100 is "), 0u);
  EXPECT_GT(check.max_error, 0);
  EXPECT_LT(check.cosine, 1);
}

TEST(OpCheck, moved_data_must_be_the_same_to_the_last_bit) {
  auto test_case = answered(Op::transpose, DType::f32, 91);
  const auto expected = expectation_of(test_case.call).value();
  float& element = test_case.call.out.data<float>()[3];
  element = std::nextafter(element, 100.0f);
  EXPECT_FALSE(check_output(test_case.call, expected).passed);
}

TEST(OpCheck, a_missing_answer_is_noticed) {
  auto test_case = answered(Op::gelu_erf, DType::bf16, 91);
  const auto expected = expectation_of(test_case.call).value();
  store_from_float(test_case.call.out, 5, std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(check_output(test_case.call, expected).passed);
}

}  // namespace
}  // namespace trilobite
