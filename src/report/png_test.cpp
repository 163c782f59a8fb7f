#include "report/png.hpp"

#include <gmock/gmock.h>

namespace trilobite {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kSquare =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"6\"><rect width=\"8\" "
    "height=\"6\" fill=\"#f00\"/></svg>";

/// Big-endian number at `at`, where PNG keeps width (16) and height (20).
unsigned size_at(const std::string& png, size_t at) {
  unsigned value = 0;
  for (size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<unsigned char>(png[at + i]);
  return value;
}

TEST(Png, has_the_size_of_the_chart_times_the_scale) {
  const auto png = svg_to_png(kSquare, 2);
  ASSERT_TRUE(png) << png.error().message();
  EXPECT_THAT(*png, StartsWith("\x89PNG\r\n"));
  EXPECT_EQ(size_at(*png, 16), 16u);
  EXPECT_EQ(size_at(*png, 20), 12u);
}

TEST(Png, what_is_no_chart_or_too_large_is_an_error) {
  EXPECT_FALSE(svg_to_png("no picture"));
  const auto huge = svg_to_png(kSquare, 1e5);
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error().message(), HasSubstr("too large"));
}

}  // namespace
}  // namespace trilobite
