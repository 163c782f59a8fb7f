#include "base/float16.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trilobite {
namespace {

TEST(Float16, every_bit_pattern_survives_the_way_through_f32) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 half{static_cast<uint16_t>(bits)};
    const float wide = half.to_float();
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(Float16::from(wide).to_float()));
    } else {
      EXPECT_EQ(Float16::from(wide).bits, bits);
    }
  }
}

TEST(Float16, rounding_is_to_nearest_even_and_equals_the_compilers) {
  for (uint32_t bits = 0; bits < 0xFF000000u - 9973; bits += 9973) {
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    EXPECT_EQ(Float16::from(value).bits, std::bit_cast<uint16_t>(static_cast<_Float16>(value)))
        << value;
  }
  EXPECT_EQ(Float16::from(65519.0f).bits, 0x7BFF);
  EXPECT_EQ(Float16::from(65520.0f).bits, 0x7C00);
  EXPECT_EQ(Float16::from(-std::numeric_limits<float>::infinity()).bits, 0xFC00);
}

TEST(BFloat16, rounds_to_nearest_even_and_keeps_nan_and_infinity) {
  EXPECT_EQ(BFloat16::from(1.0f).bits, 0x3F80);
  EXPECT_EQ(BFloat16::from(std::bit_cast<float>(0x3F808000u)).bits, 0x3F80);  // tie to even
  EXPECT_EQ(BFloat16::from(std::bit_cast<float>(0x3F818000u)).bits, 0x3F82);
  EXPECT_TRUE(std::isnan(BFloat16::from(std::bit_cast<float>(0x7F800001u)).to_float()));
  EXPECT_TRUE(std::isinf(BFloat16::from(std::numeric_limits<float>::infinity()).to_float()));
}

}  // namespace
}  // namespace trilobite
