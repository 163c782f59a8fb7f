#include "verdict/series.hpp"

#include <gmock/gmock.h>

namespace trilobite::verdict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto series = series_from_csv(text, "s");
  return series ? "no error" : series.error().message();
}

TEST(Series, reads_values_times_and_commits_by_name) {
  const auto series =
      series_from_csv("index,Time,\"value\",commit,more\r\n0,\"a,b\", 1.5 ,abc,x\r\n1,c,2e3,,\r\n",
                      "s")
          .value();
  EXPECT_THAT(series.values(), ElementsAre(1.5, 2000));
  EXPECT_EQ(series.points[0].time, "a,b");
  EXPECT_EQ(series.points[0].commit, "abc");
  EXPECT_EQ(series.gaps, 0u);
}

TEST(Series, rows_without_a_value_are_gaps_and_keep_their_number) {
  const auto series = series_from_csv("value\n1\nNaN\n\"\"\nNA\n5\n", "s").value();
  EXPECT_THAT(series.values(), ElementsAre(1, 5));
  EXPECT_EQ(series.points[1].index, 4u);
  EXPECT_EQ(series.gaps, 3u);
}

TEST(Series, what_is_no_series_is_one_sentence) {
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("value\n"), HasSubstr("no row"));
  EXPECT_THAT(error_of("value\nnan\n"), HasSubstr("no row has a value"));
  EXPECT_THAT(error_of("1\n2\n"), HasSubstr("'value'"));
  EXPECT_THAT(error_of("value\nfast\n"), HasSubstr("line 2: 'fast'"));
  EXPECT_THAT(error_of("value\ninf\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_of("value\n1e200\n"), HasSubstr("line 2"));
  EXPECT_THAT(error_of("a,value\n1\n"), HasSubstr("line 2: 1 columns"));
  EXPECT_THAT(error_of("value\n\"1\n"), HasSubstr("never closed"));
}

TEST(Series, rows_have_the_numbers_that_the_file_gives_them) {
  const auto series = series_from_csv("index,value\n5000,1\n5002,2\n", "s").value();
  EXPECT_EQ(series.points[1].index, 5002u);
  EXPECT_EQ(series_from_csv("index,value\na,1\nb,2\n", "s")->points[1].index, 1u);
  const auto shuffled = series_from_csv("index,value\n2,1\n1,2\n", "s");
  ASSERT_FALSE(shuffled);
  EXPECT_EQ(shuffled.error().message(),
            "line 3: index 1 comes after 2; rows must be in their order");
  EXPECT_FALSE(series_from_csv("value,value\n2,1\n", "s"));
}

}  // namespace
}  // namespace trilobite::verdict
