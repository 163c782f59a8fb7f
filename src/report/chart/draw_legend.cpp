#include <fmt/format.h>

#include "report/chart/drawing.hpp"
#include "report/chart/palette.hpp"
#include "report/display_text.hpp"
#include "report/xml_text.hpp"

namespace trilobite::chart {
namespace {

constexpr double kLegendLine = 20;

std::string shown_key(const Series& series) {
  return shortened_in_the_middle(printable(series.name), 40);
}

double key_width(const Series& series) { return pixels_of(shown_key(series)) + 30; }

}  // namespace

double legend_height(const Chart& chart, double width) {
  if (chart.series.size() < 2) return 0;
  double lines = 1;
  double x = 0;
  for (const auto& series : chart.series) {
    if (x > 0 && x + key_width(series) > width) {
      ++lines;
      x = 0;
    }
    x += key_width(series);
  }
  return lines * kLegendLine;
}

std::string draw_legend(const Chart& chart, double left, double top, double width) {
  if (chart.series.size() < 2) return "";
  std::string text;
  double x = 0;
  double y = top + kLegendLine / 2;
  for (const auto& series : chart.series) {
    if (x > 0 && x + key_width(series) > width) {
      x = 0;
      y += kLegendLine;
    }
    text += fmt::format(
        "<path class=\"mark c{}\" d=\"{}\"/><text class=\"name\" x=\"{}\" y=\"{}\">{}</text>",
        series.color % kSeriesColors, symbol(series.color, left + x + 6, y, 4.5),
        coordinate(left + x + 16), coordinate(y + 4), xml_text(shown_key(series)));
    x += key_width(series);
  }
  return text;
}

}  // namespace trilobite::chart
