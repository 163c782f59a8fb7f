#include "base/json.hpp"

#include <gtest/gtest.h>

namespace trilobite {
namespace {

Json json(std::string_view text) { return parse_json(text).value(); }

TEST(JsonText, bytes_that_are_not_utf8_are_replaced) {
  const Json value{{"name", "a\xff"}, {"letter", "\u00e9"}};
  EXPECT_EQ(json_line(value), "{\"name\":\"a\uFFFD\",\"letter\":\"\u00e9\"}");
  EXPECT_EQ(json_ascii_line(value), R"({"name":"a\ufffd","letter":"\u00e9"})");
  EXPECT_EQ(json_document(value), "{\n  \"name\": \"a\uFFFD\",\n  \"letter\": \"\u00e9\"\n}\n");
}

TEST(ParseJson, a_problem_has_line_and_column) {
  const auto result = parse_json("{\n  \"a\": 1,\n}");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("line 3, column 1"), std::string::npos)
      << result.error().message();
}

TEST(ParseJson, deep_nesting_and_binary_rubbish_are_survived) {
  EXPECT_FALSE(parse_json(std::string(100'000, '[')));
  EXPECT_FALSE(parse_json(std::string("\0\xff\xfe", 3)));
  EXPECT_FALSE(parse_json(""));
}

TEST(ObjectReader, members_of_every_kind_are_read) {
  const Json object =
      json(R"({"b": true, "i": 7, "whole": 3.0, "n": 0.5, "t": "x", "ts": ["a"], "ns": [1, 2.5],
                               "d": "100ms", "seconds": 2, "none": null})");
  ObjectReader reader(object, "");
  EXPECT_EQ(reader.boolean("b"), true);
  EXPECT_EQ(reader.integer("i"), 7);
  EXPECT_EQ(reader.integer("whole"), 3);
  EXPECT_EQ(reader.number("n"), 0.5);
  EXPECT_EQ(reader.text("t"), "x");
  EXPECT_EQ(reader.texts("ts"), std::vector<std::string>{"a"});
  EXPECT_EQ(reader.numbers("ns"), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(reader.duration("d"), std::chrono::milliseconds(100));
  EXPECT_EQ(reader.duration("seconds"), std::chrono::seconds(2));
  EXPECT_EQ(reader.number("none"), std::nullopt);
  EXPECT_EQ(reader.number("absent"), std::nullopt);
  EXPECT_TRUE(reader.finish());
}

TEST(ObjectReader, a_wrong_type_is_named_with_its_place) {
  const Json object = json(R"({"threads": "two"})");
  ObjectReader reader(object, "config");
  EXPECT_EQ(reader.integer("threads"), std::nullopt);
  EXPECT_EQ(reader.finish().error().message(), "config.threads: must be a whole number, not text");
}

TEST(ObjectReader, an_unknown_key_is_an_error_that_lists_the_known_ones) {
  const Json object = json(R"({"thread": 2})");
  ObjectReader reader(object, "");
  EXPECT_EQ(reader.integer("threads"), std::nullopt);
  EXPECT_EQ(reader.finish().error().message(), "thread: unknown key; known here: threads");
  EXPECT_TRUE(reader.finish_allowing_more());
}

TEST(ObjectReader, integers_outside_the_range_or_too_large_are_refused) {
  const Json object = json(R"({"n": -1, "huge": 18446744073709551615, "fraction": 1.5})");
  ObjectReader negative(object, "");
  EXPECT_EQ(negative.integer("n"), std::nullopt);
  EXPECT_FALSE(negative.finish_allowing_more());
  ObjectReader huge(object, "");
  EXPECT_EQ(huge.integer("huge"), std::nullopt);
  EXPECT_FALSE(huge.finish_allowing_more());
  ObjectReader fraction(object, "");
  EXPECT_EQ(fraction.integer("fraction"), std::nullopt);
  EXPECT_FALSE(fraction.finish_allowing_more());
}

TEST(ObjectReader, something_that_is_no_object_is_a_problem_not_a_crash) {
  const Json list = json("[1]");
  ObjectReader reader(list, "config");
  EXPECT_EQ(reader.integer("n"), std::nullopt);
  EXPECT_EQ(reader.finish().error().message(), "config: must be an object, not a list");
}

TEST(ObjectReader, a_missing_required_member_is_named) {
  const Json object = json("{}");
  ObjectReader reader(object, "record");
  reader.require("id");
  EXPECT_EQ(reader.finish().error().message(), "record.id: is missing");
}

}  // namespace
}  // namespace trilobite
