// The chart of `trend`. Sizes are in SVG user units; colours have enough contrast on white and on
// dark pages alike.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/trend_report.hpp"
#include "report/xml_text.hpp"

namespace trilobite {
namespace {

using verdict::Trend;

constexpr double kWidth = 960;
constexpr double kChartHeight = 260;
constexpr double kLeft = 80;
constexpr double kRight = 20;
constexpr double kTop = 34;
constexpr double kBottom = 26;

/// Where rows and values lie in the picture.
class Frame {
 public:
  Frame(const Trend& trend, double top) : top_(top) {
    const auto& points = trend.series.points;
    if (points.empty()) return;
    rows_ = static_cast<double>(std::max<size_t>(1, points.back().index));
    const auto [low, high] = std::ranges::minmax(trend.series.values());
    const double margin = high > low ? 0.05 * (high - low) : std::max(1e-12, std::abs(high) * 0.05);
    low_ = low - margin;
    high_ = high + margin;
  }
  double x(size_t row) const {
    return kLeft + static_cast<double>(row) / rows_ * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    const double height = kChartHeight - kTop - kBottom;
    return top_ + kTop + (high_ - value) / (high_ - low_) * height;
  }
  double top() const { return top_ + kTop; }
  double bottom() const { return top_ + kChartHeight - kBottom; }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double top_;
  double rows_ = 1;
  double low_ = 0;
  double high_ = 1;
};

std::string axis(const Frame& frame, const Trend& trend) {
  std::string text;
  constexpr int kTicks = 4;
  for (int i = 0; i <= kTicks; ++i) {
    const double value = frame.low() + (frame.high() - frame.low()) * i / kTicks;
    text += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#8888\" "
        "stroke-width=\"0.5\"/><text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
        kLeft, kWidth - kRight, frame.y(value), kLeft - 6, frame.y(value) + 4, value);
  }
  if (!trend.series.points.empty()) {
    const auto& points = trend.series.points;
    const auto label = [](const verdict::SeriesPoint& point) {
      return point.time.empty() ? fmt::format("{}", point.index) : xml_text(point.time);
    };
    text += fmt::format("<text x=\"{}\" y=\"{:.1f}\">{}</text>\n", kLeft, frame.bottom() + 16,
                        label(points.front()));
    text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                        kWidth - kRight, frame.bottom() + 16, label(points.back()));
  }
  return text;
}

std::string dots(const Frame& frame, const Trend& trend) {
  std::string path;
  for (const auto& point : trend.series.points)
    path += fmt::format("M{:.1f} {:.1f}h0", frame.x(point.index), frame.y(point.value));
  return fmt::format(
      "<path d=\"{}\" stroke=\"#4a90d9\" stroke-width=\"2.4\" stroke-linecap=\"round\" "
      "fill=\"none\"/>\n",
      path);
}

std::string level_line(const Frame& frame, const Trend& trend, size_t begin, size_t end,
                       double level) {
  const auto& points = trend.series.points;
  return fmt::format(
      "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#d97706\" "
      "stroke-width=\"2\"/>\n",
      frame.x(points[begin].index), frame.x(points[end - 1].index), frame.y(level), frame.y(level));
}

std::string changes(const Frame& frame, const Trend& trend) {
  std::string text;
  size_t begin = 0;
  for (size_t i = 0; i < trend.changes.size(); ++i) {
    const auto& change = trend.changes[i];
    const double x = frame.x(change.first.index);
    const bool slower = change.change.change > 0;
    text += fmt::format(
        "<g><title>row {}, {} {}: {} (95 %: {} to {})</title><line x1=\"{:.1f}\" x2=\"{:.1f}\" "
        "y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"1.5\" "
        "stroke-dasharray=\"4 3\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
        "text-anchor=\"middle\">{}</text></g>\n",
        change.first.index, xml_text(change.first.time), xml_text(change.first.commit),
        human_change(change.change.change), human_change(change.change.interval.low),
        human_change(change.change.interval.high), x, x, frame.top(), frame.bottom(),
        slower ? "#dc2626" : "#16a34a", x, frame.top() - 3, human_change(change.change.change));
    text += level_line(frame, trend, begin, change.change.index, change.change.before);
    begin = change.change.index;
  }
  if (!trend.changes.empty()) {
    text += level_line(frame, trend, begin, trend.series.points.size(),
                       trend.changes.back().change.after);
  }
  return text;
}

}  // namespace

std::string trend_svg(std::span<const Trend> trends) {
  const double height = std::max(1.0, kChartHeight * static_cast<double>(trends.size()));
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#777\">\n",
      kWidth, height);
  for (size_t i = 0; i < trends.size(); ++i) {
    const auto& trend = trends[i];
    const double top = kChartHeight * static_cast<double>(i);
    const Frame frame(trend, top);
    const auto unit = trend.series.unit.empty() ? "" : fmt::format(" ({})", trend.series.unit);
    text += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"13\" font-weight=\"bold\">{}</text>\n",
                        kLeft, top + 14, xml_text(trend.series.name + unit));
    text += axis(frame, trend) + dots(frame, trend) + changes(frame, trend);
  }
  return text + "</svg>\n";
}

}  // namespace trilobite
