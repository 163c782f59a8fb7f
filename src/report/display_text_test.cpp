#include "report/display_text.hpp"

#include <gtest/gtest.h>

#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

TEST(DisplayText, valid_text_is_not_changed) {
  for (const std::string text : {"", "abc", "\u05E9\u05DC", "\u4E2D\u6587", "\U0001F600"}) {
    EXPECT_EQ(valid_utf8(text), text);
  }
}

TEST(DisplayText, invalid_bytes_become_the_replacement_character) {
  EXPECT_EQ(valid_utf8("a\xff"), "a\uFFFD");
  EXPECT_EQ(valid_utf8("\xe2\x82"), "\uFFFD\uFFFD");            // cut off
  EXPECT_EQ(valid_utf8("\xc0\xaf"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80").size(), 12u);        // above U+10FFFF
}

TEST(DisplayText, printable_text_has_no_control_or_direction_characters) {
  EXPECT_EQ(printable("a\nb\x1b[0m"), "a b [0m");
  EXPECT_EQ(printable("x\u202Ey\u2066z\u0085"), "xyz ");
}

TEST(DisplayText, width_counts_columns_not_bytes) {
  EXPECT_EQ(display_width("\u00B195 %"), 5u);
  EXPECT_EQ(display_width("\u4E2D\u6587"), 4u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
  EXPECT_EQ(display_width("\U0001F600"), 2u);
}

TEST(DisplayText, shortening_keeps_both_ends_and_fits) {
  EXPECT_EQ(shortened_in_the_middle("kernels/matmul/64", 17), "kernels/matmul/64");
  EXPECT_EQ(shortened_in_the_middle("kernels/matmul/64", 8), "ker\u2026l/64");
  EXPECT_EQ(shortened_at_the_end("kernels", 4), "ker\u2026");
  EXPECT_EQ(shortened_in_the_middle("abc", 0), "");
}

TEST(DisplayText, shortening_any_text_to_any_width_fits_and_stays_utf8) {
  for (const auto& name : fixtures::hostile_names()) {
    const auto text = printable(name);
    for (size_t width = 0; width < 20; ++width) {
      for (const auto& cut :
           {shortened_in_the_middle(text, width), shortened_at_the_end(text, width)}) {
        EXPECT_LE(display_width(cut), width) << text;
        EXPECT_EQ(valid_utf8(cut), cut) << text;
      }
    }
  }
}

TEST(DisplayText, wrapping_breaks_at_blanks_and_indents) {
  EXPECT_EQ(wrapped("one two three", 8, 2), (std::vector<std::string>{"one two", "  three"}));
  EXPECT_EQ(wrapped("one two", 0, 2), (std::vector<std::string>{"one two"}));
  EXPECT_EQ(wrapped("", 8, 2), (std::vector<std::string>{""}));
}

TEST(DisplayText, no_wrapped_line_is_wider_than_asked) {
  const std::string text = "a " + std::string(50, 'b') + " cc \u4E2D\u6587\u4E2D\u6587 d";
  for (size_t width = 1; width < 60; ++width) {
    for (const auto& line : wrapped(text, width, 4)) EXPECT_LE(display_width(line), width);
  }
}

}  // namespace
}  // namespace trilobite
