#include "report/chart/layout.hpp"

#include <algorithm>
#include <cmath>

#include "report/display_text.hpp"

namespace trilobite::chart {
namespace {

constexpr double kPixelsPerColumn = 7.3;  // of 12 px letters, on the wide side
constexpr double kNarrow = 500;
constexpr double kFoot = 44;  // tick labels and the title of x
constexpr double kSlot = 13;
constexpr double kRowGap = 9;

bool starts_bars_at_base(const Chart& chart, const Axis& axis) {
  return axis.base && std::ranges::any_of(chart.series, [](const Series& series) {
           return series.shape == Shape::bars;
         });
}

/// Everything that an axis must show. `measured`: intervals belong to it.
Interval extent(const Chart& chart, const Axis& axis, bool is_x, bool measured) {
  std::vector<double> values;
  const auto add = [&](double value) {
    if (std::isfinite(value)) values.push_back(value);
  };
  for (const auto& series : chart.series) {
    for (const auto& mark : series.marks) {
      add(is_x ? mark.x : mark.y);
      if (measured && mark.interval) {
        add(mark.interval->low);
        add(mark.interval->high);
      }
    }
  }
  for (const auto& rule : chart.rules) {
    for (const auto& [x, y] : rule.points) add(is_x ? x : y);
  }
  if (starts_bars_at_base(chart, axis) && !(axis.logarithmic && *axis.base <= 0)) add(*axis.base);
  if (values.empty()) return axis.logarithmic ? Interval{1, 10} : Interval{0, 1};
  const auto [low, high] = std::ranges::minmax(values);
  return {low, high};
}

double left_gutter(const Chart& chart, bool narrow) {
  if (chart.y.categories.empty()) return narrow ? 58 : 76;
  if (narrow) return 8;
  double longest = 60;
  for (const auto& name : chart.y.categories) longest = std::max(longest, pixels_of(name));
  return std::min(longest + 14, 300.0);
}

}  // namespace

size_t columns_in(double pixels) {
  return static_cast<size_t>(std::max(1.0, pixels / kPixelsPerColumn));
}

double pixels_of(const std::string& text) {
  return static_cast<double>(display_width(printable(text))) * kPixelsPerColumn;
}

size_t slots_of(const Chart& chart) {
  const auto bars = std::ranges::count(chart.series, Shape::bars, &Series::shape);
  return std::max<size_t>(1, static_cast<size_t>(bars));
}

double Layout::row_place(double row, size_t slot, size_t slots) const {
  const double middle = static_cast<double>(slot) + 0.5 - static_cast<double>(slots) / 2;
  const double bars = (row_height + label_height) / 2;
  return plot.top + row * row_height + bars + middle * slot_height;
}

Layout layout_of(const Chart& chart, const LayoutOptions& options) {
  const bool narrow = options.width < kNarrow;
  const auto rows = static_cast<double>(chart.y.categories.size());
  const double label = rows > 0 && narrow ? 16 : 0;
  const double slots = static_cast<double>(slots_of(chart));
  const double row = slots * kSlot + kRowGap + label;
  const double inner = rows > 0 ? rows * row : narrow ? 250 : 300;
  const double left = left_gutter(chart, narrow);
  const double top = options.above + options.head;
  const Area plot{left, top, options.width - (narrow ? 22 : 34), top + inner};
  const bool x_measured = rows > 0;
  return {.width = options.width,
          .height = plot.bottom + kFoot,
          .plot = plot,
          .x = Scale({.values = extent(chart, chart.x, true, x_measured),
                      .range = {plot.left, plot.right},
                      .logarithmic = chart.x.logarithmic,
                      .quantity = chart.x.quantity,
                      .pixels_per_tick = narrow ? 78.0 : 92.0}),
          .y = Scale({.values = extent(chart, chart.y, false, !x_measured),
                      .range = {plot.bottom, plot.top},
                      .logarithmic = chart.y.logarithmic,
                      .quantity = chart.y.quantity,
                      .pixels_per_tick = 44}),
          .title_baseline = options.above + 14,
          .row_height = row,
          .slot_height = kSlot,
          .label_height = label,
          .pixels_per_name = narrow ? plot.right - plot.left : left - 12};
}

}  // namespace trilobite::chart
