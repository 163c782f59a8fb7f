#include <fmt/format.h>

#include <algorithm>

#include "report/chart/drawing.hpp"
#include "report/display_text.hpp"
#include "report/xml_text.hpp"

namespace trilobite::chart {
namespace {

std::string grid_path(const std::string& path) {
  return fmt::format("<path class=\"grid\" d=\"{}\"/>", path);
}

std::string label(double x, double y, std::string_view anchor, const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>", coordinate(x),
                     coordinate(y), anchor, xml_text(text));
}

/// "10.0 GOP/s" as "10 GOP/s": ticks are round, so their zeros say nothing.
std::string tick_text(double tick, const Axis& axis) {
  auto text = value_text(tick, axis.quantity, axis.unit);
  const auto point = text.find('.');
  if (point == std::string::npos) return text;
  const auto end = text.find_first_not_of('0', point + 1);
  const bool only_zeros = end == std::string::npos || text[end] < '0' || text[end] > '9';
  return only_zeros ? text.erase(point, std::min(end, text.size()) - point) : text;
}

/// Centred below its tick, moved inwards where it would leave the picture.
std::string x_label(double x, const Layout& layout, const std::string& text) {
  const double half = pixels_of(text) / 2;
  const double y = layout.plot.bottom + 18;
  if (x < half) return label(0, y, "start", text);
  if (x + half > layout.width) return label(layout.width, y, "end", text);
  return label(x, y, "middle", text);
}

std::string x_labels(const Chart& chart, const Layout& layout) {
  const auto& plot = layout.plot;
  if (chart.x.ends.size() == 2) {
    return label(plot.left, plot.bottom + 18, "start", chart.x.ends[0]) +
           label(plot.right, plot.bottom + 18, "end", chart.x.ends[1]);
  }
  std::string grid;
  std::string text;
  for (const double tick : layout.x.ticks()) {
    const double x = layout.x.place(tick);
    grid += fmt::format("M{} {}V{}", coordinate(x), coordinate(plot.top), coordinate(plot.bottom));
    text += x_label(x, layout, tick_text(tick, chart.x));
  }
  return grid_path(grid) + text;
}

std::string y_labels(const Chart& chart, const Layout& layout) {
  const auto& plot = layout.plot;
  std::string grid;
  std::string text;
  for (const double tick : layout.y.ticks()) {
    const double y = layout.y.place(tick);
    grid += fmt::format("M{} {}H{}", coordinate(plot.left), coordinate(y), coordinate(plot.right));
    text += label(plot.left - 8, y + 4, "end", tick_text(tick, chart.y));
  }
  return grid_path(grid) + text;
}

std::string row_names(const Chart& chart, const Layout& layout) {
  const bool above = layout.label_height > 0;
  const auto columns = columns_in(layout.pixels_per_name);
  std::string text;
  for (size_t row = 0; row < chart.y.categories.size(); ++row) {
    const double top = layout.plot.top + static_cast<double>(row) * layout.row_height;
    const auto name = printable(chart.y.categories[row]);
    text += fmt::format("<text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}{}</text>",
                        coordinate(above ? layout.plot.left + 5 : layout.plot.left - 10),
                        coordinate(above ? top + 15 : top + layout.row_height / 2 + 4),
                        above ? "start" : "end", xml_text(shortened_in_the_middle(name, columns)),
                        display_width(name) > columns ? hover_text(name) : "");
  }
  return text;
}

}  // namespace

std::string draw_axes(const Chart& chart, const Layout& layout) {
  const auto& plot = layout.plot;
  std::string text = x_labels(chart, layout);
  text += chart.y.categories.empty() ? y_labels(chart, layout) : row_names(chart, layout);
  text += fmt::format("<path class=\"axis\" d=\"M{0} {1}V{2}H{3}\"/>", coordinate(plot.left),
                      coordinate(plot.top), coordinate(plot.bottom), coordinate(plot.right));
  if (chart.y.categories.empty() && !chart.y.title.empty())
    text += label(2, layout.title_baseline, "start", chart.y.title);
  if (!chart.x.title.empty())
    text += label((plot.left + plot.right) / 2, plot.bottom + 38, "middle", chart.x.title);
  return text;
}

}  // namespace trilobite::chart
