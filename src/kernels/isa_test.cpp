#include "kernels/isa.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trilobite::kernels {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Isa, scalar_is_always_available_and_comes_last) {
  ASSERT_THAT(available_isas(), Contains("scalar"));
  EXPECT_EQ(available_isas().back(), "scalar");
}

TEST(Isa, every_available_one_can_be_chosen_and_empty_goes_back_to_the_best) {
  for (const auto isa : available_isas()) {
    ASSERT_TRUE(set_isa(isa)) << isa;
    EXPECT_EQ(current_isa(), isa);
  }
  ASSERT_TRUE(set_isa(""));
  EXPECT_EQ(current_isa(), available_isas().front());
}

TEST(Isa, unknown_name_is_an_error_that_lists_the_available_ones) {
  const auto chosen = set_isa("avx99");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().kind(), ErrorKind::input);
  EXPECT_THAT(chosen.error().message(), HasSubstr("'avx99'"));
  EXPECT_THAT(chosen.error().message(), HasSubstr("scalar"));
}

}  // namespace
}  // namespace trilobite::kernels
