#include "base/csv.hpp"

#include <gmock/gmock.h>

namespace trilobite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::vector<std::string>> fields_of(std::string_view text) {
  std::vector<std::vector<std::string>> all;
  const auto rows = parse_csv(text);
  EXPECT_TRUE(rows) << text;
  if (rows)
    for (const auto& row : *rows) all.push_back(row.fields);
  return all;
}

TEST(Csv, quotes_protect_commas_quotes_and_line_breaks) {
  EXPECT_THAT(
      fields_of("a,\"b,c\",\"d\"\"e\",\"f\ng\"\n1,2,3,4\n"),
      ElementsAre(ElementsAre("a", "b,c", "d\"e", "f\ng"), ElementsAre("1", "2", "3", "4")));
}

TEST(Csv, line_ends_and_byte_order_marks_do_not_matter) {
  const auto expected = ElementsAre(ElementsAre("a", "b"), ElementsAre("1", ""));
  EXPECT_THAT(fields_of("a,b\n1,\n"), expected);
  EXPECT_THAT(fields_of("\xEF\xBB\xBF"
                        "a,b\r\n\r\n1,"),
              expected);
  EXPECT_THAT(fields_of("a,b\r\n1,\"\"\r\n"), expected);
}

TEST(Csv, lines_are_counted_through_quoted_line_breaks) {
  const auto rows = parse_csv("a\n\"b\nc\"\n\nd\n").value();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].line, 2u);
  EXPECT_EQ(rows[2].line, 5u);
}

TEST(Csv, nothing_is_no_rows) {
  EXPECT_TRUE(fields_of("").empty());
  EXPECT_TRUE(fields_of("\n\r\n").empty());
}

TEST(Csv, broken_quotes_are_errors_with_their_line) {
  EXPECT_THAT(parse_csv("a\n\"b\n").error().message(), HasSubstr("line 2"));
  EXPECT_THAT(parse_csv("\"a\"b\n").error().message(), HasSubstr("closing quote"));
}

}  // namespace
}  // namespace trilobite
