#include "tensor/shape.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trilobite {
namespace {

TEST(Shape, text_form_reads_back) {
  EXPECT_EQ(Shape::parse("2x3x4").value(), (Shape{2, 3, 4}));
  EXPECT_EQ((Shape{2, 3, 4}).to_string(), "2x3x4");
  EXPECT_EQ((Shape{0, 5}).elements(), 0);
  EXPECT_EQ(Shape().elements(), 1);
}

TEST(Shape, absurd_extents_are_errors_not_overflows) {
  EXPECT_FALSE(Shape::parse("9999999999x9999999999x9999999999"));
  EXPECT_FALSE(Shape::parse("0x9999999999x9999999999x99999"));
  EXPECT_FALSE(Shape::from(std::vector<int64_t>{2, -1}));
  EXPECT_FALSE(Shape::parse("1x1x1x1x1x1x1"));
  for (const char* bad : {"", "x", "2x", "2xx3", "a", "2x3 "})
    EXPECT_FALSE(Shape::parse(bad)) << bad;
}

}  // namespace
}  // namespace trilobite
