#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart/drawing.hpp"
#include "report/display_text.hpp"
#include "report/xml_text.hpp"

namespace trilobite::chart {
namespace {

using Place = std::pair<double, double>;

constexpr double kLabelHeight = 13;

std::string_view class_of(RuleKind kind) {
  switch (kind) {
    case RuleKind::level: return "level";
    case RuleKind::worse: return "worse";
    case RuleKind::better: return "better";
    case RuleKind::limit: break;
  }
  return "limit";
}

double clamped(double place, double one_end, double other_end) {
  return std::clamp(place, std::min(one_end, other_end), std::max(one_end, other_end));
}

Place place_of(const Place& point, const Layout& layout) {
  const auto& plot = layout.plot;
  const auto [x, y] = point;
  const double across = std::isinf(x) ? (x < 0 ? plot.left : plot.right) : layout.x.place(x);
  const double down = std::isinf(y) ? (y < 0 ? plot.bottom : plot.top) : layout.y.place(y);
  return {clamped(across, plot.left, plot.right), clamped(down, plot.top, plot.bottom)};
}

/// Labels of upright rules stand above the plot, of level ones at the right end, of sloped ones
/// where they begin. A label that would lie on another is left out; pointing at the rule tells it.
class RuleDrawer {
 public:
  explicit RuleDrawer(const Layout& layout) : layout_(layout) {}

  std::string draw(const Rule& rule) {
    std::vector<Place> places;
    std::string path;
    for (const auto& point : rule.points) {
      places.push_back(place_of(point, layout_));
      path += fmt::format("{}{} {}", path.empty() ? 'M' : 'L', coordinate(places.back().first),
                          coordinate(places.back().second));
    }
    return fmt::format("<g class=\"r\"><path class=\"rule {}\" d=\"{}\"/>{}{}</g>",
                       class_of(rule.kind), path, label(rule, places), hover_text(rule.text));
  }

 private:
  std::string label(const Rule& rule, const std::vector<Place>& places) {
    if (rule.label.empty()) return "";
    const auto [first_x, first_y] = places.front();
    const auto [last_x, last_y] = places.back();
    const auto text = shortened_at_the_end(printable(rule.label), 40);
    if (first_x == last_x) return written(text, "middle", {first_x, layout_.plot.top - 4});
    if (first_y == last_y) return written(text, "end", {last_x - 2, last_y - 5});
    return written(text, "start", {first_x + 4, first_y - 5});
  }

  std::string written(const std::string& text, std::string_view anchor, Place at) {
    const double width = pixels_of(text);
    const double left = anchor == "start" ? at.first
                        : anchor == "end" ? at.first - width
                                          : at.first - width / 2;
    for (const auto& taken : taken_) {
      if (std::abs(taken.top - at.second) < kLabelHeight && left < taken.right &&
          left + width > taken.left)
        return "";
    }
    taken_.push_back({left, at.second, left + width, at.second});
    return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>", coordinate(at.first),
                       coordinate(at.second), anchor, xml_text(text));
  }

  const Layout& layout_;
  std::vector<Area> taken_;
};

}  // namespace

std::string draw_rules(const Chart& chart, const Layout& layout) {
  RuleDrawer drawer(layout);
  std::string text;
  for (const auto& rule : chart.rules) text += drawer.draw(rule);
  return text;
}

}  // namespace trilobite::chart
