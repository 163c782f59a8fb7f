#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart/drawing.hpp"
#include "report/chart/palette.hpp"
#include "report/xml_text.hpp"

namespace trilobite::chart {
namespace {

constexpr double kRadius = 4.5;

/// Puts one series in its place; `slot` is its lane among bars that share a row.
class SeriesDrawer {
 public:
  SeriesDrawer(const Chart& chart, const Layout& layout, const Series& series, size_t slot)
      : rows_(!chart.y.categories.empty()),
        base_(chart.x.base),
        layout_(layout),
        series_(series),
        slot_(slot),
        slots_(slots_of(chart)) {}

  std::string draw() const {
    std::string text = fmt::format("<g data-series=\"{}\">", xml_text(series_.name));
    if (series_.shape == Shape::line) text += line();
    for (const auto& mark : series_.marks) text += draw(mark);
    return text + "</g>";
  }

 private:
  double x(const Mark& mark) const { return layout_.x.place(mark.x); }
  double y(const Mark& mark) const {
    if (!rows_) return layout_.y.place(mark.y);
    const bool in_lane = series_.shape == Shape::bars;
    return layout_.row_place(mark.y, in_lane ? slot_ : 0, in_lane ? slots_ : 1);
  }

  /// A bar has to start at a value that means something; a logarithmic scale has no zero.
  bool is_bar() const {
    return series_.shape == Shape::bars && base_ && (!layout_.x.logarithmic() || *base_ > 0);
  }

  std::string line() const {
    std::string path;
    for (const auto& mark : series_.marks)
      path += fmt::format("{}{} {}", path.empty() ? 'M' : 'L', coordinate(x(mark)),
                          coordinate(y(mark)));
    return fmt::format("<path class=\"c{} line\" d=\"{}\"/>", series_.color % kSeriesColors, path);
  }

  std::string draw(const Mark& mark) const {
    return fmt::format("<g class=\"m\" data-k=\"{}\">{}{}{}</g>", mark.facets, body(mark),
                       whisker(mark), hover_text(mark.text));
  }

  std::string body(const Mark& mark) const {
    if (!is_bar()) {
      return fmt::format("<path class=\"mark c{}\" d=\"{}\"/>", series_.color % kSeriesColors,
                         symbol(series_.color, x(mark), y(mark), kRadius));
    }
    const double from = layout_.x.place(*base_);
    const double height = layout_.slot_height - 2;
    return fmt::format("<rect class=\"mark c{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                       series_.color % kSeriesColors, coordinate(std::min(from, x(mark))),
                       coordinate(y(mark) - height / 2),
                       coordinate(std::max(1.0, std::abs(x(mark) - from))), coordinate(height));
  }

  std::string whisker(const Mark& mark) const {
    if (!mark.interval) return "";
    const auto& scale = rows_ ? layout_.x : layout_.y;
    const auto low = scale.place(mark.interval->low);
    const auto high = scale.place(mark.interval->high);
    if (std::abs(high - low) < 1) return "";  // narrower than a line
    const auto path =
        rows_ ? fmt::format("M{0} {1}v6M{0} {2}H{3}M{3} {1}v6", coordinate(low),
                            coordinate(y(mark) - 3), coordinate(y(mark)), coordinate(high))
              : fmt::format("M{1} {0}h6M{2} {0}V{3}M{1} {3}h6", coordinate(low),
                            coordinate(x(mark) - 3), coordinate(x(mark)), coordinate(high));
    return fmt::format("<path class=\"whisker\" d=\"{}\"/>", path);
  }

  bool rows_;
  std::optional<double> base_;
  const Layout& layout_;
  const Series& series_;
  size_t slot_;
  size_t slots_;
};

}  // namespace

std::string symbol(size_t color, double x, double y, double radius) {
  const auto at = [](double value) { return coordinate(value); };
  switch (color % 4) {
    case 0:
      return fmt::format("M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0", at(x - radius), at(y),
                         fmt::arg("r", at(radius)), fmt::arg("d", at(2 * radius)));
    case 1: {
      const double half = radius * 0.88;
      return fmt::format("M{} {}h{s}v{s}h-{s}z", at(x - half), at(y - half),
                         fmt::arg("s", at(2 * half)));
    }
    case 2:
      return fmt::format("M{} {}L{} {}H{}z", at(x), at(y - radius * 1.15), at(x + radius * 1.1),
                         at(y + radius * 0.85), at(x - radius * 1.1));
    default:
      return fmt::format("M{} {}L{} {}L{} {}L{} {}z", at(x), at(y - radius * 1.2),
                         at(x + radius * 1.2), at(y), at(x), at(y + radius * 1.2),
                         at(x - radius * 1.2), at(y));
  }
}

std::string draw_marks(const Chart& chart, const Layout& layout) {
  std::string text;
  size_t slot = 0;
  for (const auto& series : chart.series) {
    text += SeriesDrawer(chart, layout, series, slot).draw();
    slot += series.shape == Shape::bars ? 1 : 0;
  }
  return text;
}

}  // namespace trilobite::chart
