#include "base/error.hpp"

#include <gtest/gtest.h>

namespace trilobite {
namespace {

Result<int> half_of(int value) {
  if (value % 2 != 0) return fail("3 is odd", ErrorKind::environment);
  return value / 2;
}

Result<int> quarter_of(int value) {
  const auto half = half_of(value);
  if (!half) return fail_from(half, "halving");
  return half_of(*half);
}

TEST(Error, context_is_put_in_front_and_the_kind_is_kept) {
  const auto result = quarter_of(3);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "halving: 3 is odd");
  EXPECT_EQ(result.error().kind(), ErrorKind::environment);
}

TEST(Error, a_value_passes_through) { EXPECT_EQ(quarter_of(12).value(), 3); }

TEST(CheckDeathTest, a_broken_promise_aborts_and_names_the_expression) {
  EXPECT_DEATH(TRILOBITE_CHECK(1 + 1 == 3), "1 \\+ 1 == 3");
}

}  // namespace
}  // namespace trilobite
