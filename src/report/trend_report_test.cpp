#include "report/trend_report.hpp"

#include <gmock/gmock.h>

#include "base/json.hpp"
#include "report/csv_parser_for_test.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;
using testing::Not;

verdict::Trend example(std::string name) {
  verdict::Series series{.name = std::move(name), .unit = "ms", .points = {}, .gaps = 1};
  for (size_t i = 0; i < 60; ++i) {
    series.points.push_back({.index = i + 1,
                             .value = i < 40 ? 10.0 + 0.01 * static_cast<double>(i % 3) : 12.0,
                             .time = "2026-01-01",
                             .commit = "0123456789abcdef"});
  }
  return verdict::analyse_trend(std::move(series), nullptr, {});
}

TEST(TrendReport, json_of_one_series_has_its_change_points_at_the_top) {
  const auto json = parse_json(trend_json(example("a"))).value();
  EXPECT_EQ(json.at("schema"), "trilobite.trend/1");
  ASSERT_EQ(json.at("change_points").size(), 1u);
  const auto& point = json.at("change_points")[0];
  EXPECT_EQ(point.at("index"), 41);
  EXPECT_EQ(point.at("commit"), "0123456789abcdef");
  EXPECT_NEAR(point.at("change").get<double>(), 0.2, 0.01);
  EXPECT_EQ(json.at("gaps"), 1);
}

TEST(TrendReport, all_formats_tell_the_same_changes) {
  const std::vector trends{example("a"), example("b")};
  EXPECT_EQ(parse_json(trends_json(trends)).value().at("series").size(), 2u);
  const auto rows = fixtures::csv_records(trend_csv(trends));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].at("name"), "b");
  EXPECT_EQ(rows[1].at("index"), "41");
  const auto table = trend_table(trends, 0, false);
  EXPECT_THAT(table, HasSubstr("a: 60 points (1 without a value), 1 change\n"));
  EXPECT_THAT(table, HasSubstr("+20 %"));
  EXPECT_THAT(trend_svg(trends), HasSubstr("+20 %"));
}

TEST(TrendReport, names_cannot_break_the_chart) {
  const auto svg = trend_svg(std::vector{example("<script>&\"\x1b[2J")});
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;&quot;"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST(TrendReport, a_series_without_points_still_makes_a_chart) {
  EXPECT_THAT(trend_svg(std::vector{verdict::Trend{}}), HasSubstr("</svg>"));
  EXPECT_THAT(trend_svg({}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace trilobite
