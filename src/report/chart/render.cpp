#include "report/chart/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/assets.hpp"
#include "report/chart/drawing.hpp"
#include "report/chart/palette.hpp"
#include "report/display_text.hpp"
#include "report/xml_text.hpp"

namespace trilobite::chart {
namespace {

constexpr double kTitleHeight = 26;
constexpr double kGap = 26;

/// Room above the plot: the title of y, labels of rules.
double head_of(const Chart& chart) {
  const bool upright = std::ranges::any_of(chart.rules, [](const Rule& rule) {
    return rule.points.front().first == rule.points.back().first && !rule.label.empty();
  });
  return 8 + (chart.y.title.empty() ? 0 : 22) + (upright ? 16 : 0);
}

std::string description(const Chart& chart) {
  size_t marks = 0;
  for (const auto& series : chart.series) marks += series.marks.size();
  return fmt::format("{}: {} by {}, {} values", chart.title,
                     chart.y.title.empty() ? chart.x.title : chart.y.title,
                     chart.y.categories.empty() ? chart.x.title : "case", marks);
}

/// Title, legend and chart from `top` down; `height` grows by what they took.
std::string stacked(const Chart& chart, double width, double& height) {
  const double legend = legend_height(chart, width - 16);
  const auto layout =
      layout_of(chart, {.width = width, .above = kTitleHeight + legend, .head = head_of(chart)});
  const auto title = shortened_in_the_middle(printable(chart.title), columns_in(width * 0.82));
  std::string text = fmt::format(
      "<g transform=\"translate(0 {})\"><text class=\"title\" x=\"8\" "
      "y=\"18\">{}</text>{}{}{}{}</g>\n",
      coordinate(height), xml_text(title), draw_legend(chart, 8, kTitleHeight, width - 16),
      draw_axes(chart, layout), draw_rules(chart, layout), draw_marks(chart, layout));
  height += layout.height + kGap;
  return text;
}

}  // namespace

std::string coordinate(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

std::string hover_text(const std::string& text) {
  return text.empty() ? "" : fmt::format("<title>{}</title>", xml_text(text));
}

std::string_view chart_style() { return assets::chart_css(); }

const Axis& measured_axis(const Chart& chart) {
  return chart.y.categories.empty() ? chart.y : chart.x;
}

bool can_be_logarithmic(const Chart& chart) {
  const bool rows = !chart.y.categories.empty();
  for (const auto& series : chart.series) {
    for (const auto& mark : series.marks) {
      if (!((rows ? mark.x : mark.y) > 0)) return false;
      if (mark.interval && !(mark.interval->low > 0)) return false;
    }
  }
  return true;
}

Chart on_scale(const Chart& chart, bool logarithmic) {
  Chart other = chart;
  auto& axis = chart.y.categories.empty() ? other.y : other.x;
  axis.logarithmic = logarithmic && can_be_logarithmic(chart);
  return other;
}

std::string svg_on_page(const Chart& chart, double width) {
  const auto layout = layout_of(chart, {.width = width, .head = head_of(chart)});
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">{}{}{}</svg>",
      coordinate(layout.width), coordinate(layout.height),
      xml_text(shortened_in_the_middle(printable(description(chart)), 200)),
      draw_axes(chart, layout), draw_rules(chart, layout), draw_marks(chart, layout));
}

std::string svg_file(std::span<const Chart> charts, double width) {
  double height = 0;
  std::string body;
  for (const auto& chart : charts) body += stacked(chart, width, height);
  height = std::max(height, 1.0);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {0} {1}\" "
      "width=\"{0}\" height=\"{1}\">\n<style>{2}</style>\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#ffffff\"/>\n{3}</svg>\n",
      coordinate(width), coordinate(height), with_light_colors(chart_style()), body);
}

}  // namespace trilobite::chart
