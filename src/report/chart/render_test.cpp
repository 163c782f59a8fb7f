#include "report/chart/render.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "report/chart/palette.hpp"

namespace trilobite::chart {
namespace {

using testing::HasSubstr;
using testing::Not;

Chart bars() {
  Chart chart{.title = "times"};
  chart.x = {.title = "time", .quantity = Quantity::time_ns, .logarithmic = true, .base = 0.0};
  chart.y.categories = {"small", "large"};
  chart.series = {{.name = "cpu",
                   .shape = Shape::bars,
                   .color = 0,
                   .marks = {{.x = 10, .y = 0, .interval = Interval{8, 20}, .text = "ten"},
                             {.x = 1000, .y = 1, .text = "thousand"}}},
                  {.name = "gpu", .shape = Shape::bars, .color = 1, .marks = {{.x = 5, .y = 0}}}};
  return chart;
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(Chart, every_value_is_one_mark_and_tells_its_text) {
  const auto svg = svg_on_page(bars(), kWide);
  EXPECT_EQ(count(svg, "class=\"m\""), 3u);
  EXPECT_THAT(svg, HasSubstr("<title>thousand</title>"));
  EXPECT_THAT(svg, HasSubstr("data-series=\"gpu\""));
}

TEST(Chart, bars_need_a_scale_with_a_zero) {
  EXPECT_EQ(count(svg_on_page(on_scale(bars(), false), kWide), "<rect class=\"mark"), 3u);
  EXPECT_EQ(count(svg_on_page(bars(), kWide), "<rect class=\"mark"), 0u);
}

TEST(Chart, only_positive_values_can_be_logarithmic) {
  auto chart = bars();
  EXPECT_TRUE(can_be_logarithmic(chart));
  chart.series[0].marks[0].interval = Interval{-1, 20};
  EXPECT_FALSE(can_be_logarithmic(chart));
  EXPECT_FALSE(measured_axis(on_scale(chart, true)).logarithmic);
}

TEST(Chart, nothing_lies_outside_the_picture) {
  for (const double width : {kWide, kNarrow}) {
    const auto svg = svg_on_page(bars(), width);
    for (auto at = svg.find(" x=\""); at != std::string::npos; at = svg.find(" x=\"", at + 1)) {
      const double x = std::stod(svg.substr(at + 4));
      EXPECT_GE(x, 0);
      EXPECT_LE(x, width);
    }
  }
}

TEST(Chart, a_file_has_titles_legends_and_no_custom_properties) {
  const std::vector charts{bars(), bars()};
  const auto svg = svg_file(charts);
  EXPECT_EQ(count(svg, "class=\"title\""), 2u);
  EXPECT_THAT(svg, HasSubstr(">gpu</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("var(")));
  EXPECT_THAT(svg_file({}), HasSubstr("</svg>"));
}

TEST(Chart, every_custom_property_has_a_colour) {
  const auto properties = custom_properties(true);
  const std::string style(chart_style());
  for (auto at = style.find("var("); at != std::string::npos; at = style.find("var(", at + 1)) {
    const auto name = style.substr(at + 4, style.find(')', at) - at - 4);
    EXPECT_THAT(properties, HasSubstr(name + ":"));
  }
}

TEST(Chart, labels_of_rules_do_not_lie_on_each_other) {
  Chart chart;
  chart.series = {{.name = "a", .marks = {{.x = 1, .y = 1}, {.x = 2, .y = 100}}}};
  chart.rules = {{RuleKind::limit, {{1, 50}, {INFINITY, 50}}, "first", "first rule"},
                 {RuleKind::limit, {{1, 50.1}, {INFINITY, 50.1}}, "second", "second rule"}};
  const auto svg = svg_on_page(chart, kWide);
  EXPECT_THAT(svg, HasSubstr(">first</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">second</text>")));
  EXPECT_THAT(svg, HasSubstr("<title>second rule</title>"));
}

TEST(Chart, names_cannot_become_markup) {
  auto chart = bars();
  chart.title = chart.y.categories[0] = chart.series[0].name = chart.series[0].marks[0].text =
      "<script>\"&'";
  for (const auto& svg : {svg_on_page(chart, kWide), svg_file(std::vector{chart})}) {
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
    EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&quot;&amp;"));
  }
}

}  // namespace
}  // namespace trilobite::chart
