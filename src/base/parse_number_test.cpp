#include "base/parse_number.hpp"

#include <gtest/gtest.h>

namespace trilobite {
namespace {

TEST(ParseNumber, the_whole_text_must_be_the_number) {
  EXPECT_EQ(parse_int("-42").value(), -42);
  EXPECT_EQ(parse_int("+7").value(), 7);
  EXPECT_DOUBLE_EQ(parse_double("2.5e3").value(), 2500);
  for (const char* bad : {"", " 1", "1 ", "1x", "++1", "0x10", "9999999999999999999", "1.5"}) {
    EXPECT_FALSE(parse_int(bad)) << bad;
  }
  for (const char* bad : {"", "nan", "inf", "-inf", "1,5", "1e999", "."})
    EXPECT_FALSE(parse_double(bad)) << bad;
}

}  // namespace
}  // namespace trilobite
