// docs/formats/record.md describes the record; its example and its tables must be true.

#include <gtest/gtest.h>

#include <set>

#include "base/file.hpp"
#include "record/record_json.hpp"
#include "report/csv.hpp"
#include "report/csv_parser_for_test.hpp"

namespace trilobite {
namespace {

std::string document() {
  const auto text = read_file(TRILOBITE_RECORD_DOCUMENT);
  EXPECT_TRUE(text) << text.error().message();
  return text.value_or("");
}

/// The first fenced block of JSON.
std::string example() {
  const auto text = document();
  constexpr std::string_view kFence = "```json\n";
  const auto begin = text.find(kFence) + kFence.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

/// Every member name, at any depth. Members of maps are data, not names of the schema.
void collect_names(const Json& json, std::set<std::string>& names) {
  static const std::set<std::string> kMaps = {"parameters", "figures", "kernels",
                                              "operations_per_second"};
  if (json.is_array()) {
    for (const auto& value : json) collect_names(value, names);
  }
  if (!json.is_object()) return;
  for (const auto& [name, value] : json.items()) {
    names.insert(name);
    if (!kMaps.contains(name)) collect_names(value, names);
  }
}

TEST(RecordDocument, its_example_is_a_record) {
  const auto record = record_from_json_text(example());
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_GE(record->benchmarks.size(), 2u);
  EXPECT_EQ(record->benchmarks[0].status, Status::ok);
}

TEST(RecordDocument, its_example_shows_every_member_that_the_program_writes) {
  const auto record = record_from_json_text(example());
  ASSERT_TRUE(record);
  std::set<std::string> shown;
  std::set<std::string> written;
  collect_names(Json::parse(example()), shown);
  collect_names(Json::parse(to_json_text(*record)), written);
  EXPECT_EQ(shown, written);
}

TEST(RecordDocument, it_explains_every_member_of_the_example) {
  const auto text = document();
  std::set<std::string> names;
  collect_names(Json::parse(example()), names);
  for (const auto& name : names) {
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name << " is not explained";
  }
}

TEST(RecordDocument, it_lists_every_csv_column_in_order) {
  const auto text = document();
  size_t at = text.find("## CSV");
  ASSERT_NE(at, std::string::npos);
  const auto header = fixtures::parse_csv(to_csv(RunRecord())).at(0);
  for (const auto& column : header) {
    const auto found = text.find("`" + column + "`", at);
    ASSERT_NE(found, std::string::npos) << column;
    at = found;
  }
}

}  // namespace
}  // namespace trilobite
