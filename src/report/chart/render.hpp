#pragma once
// Charts as SVG: on a page (classes, colours from the page) or as pictures that stand alone.

#include <span>
#include <string>

#include "report/chart/chart.hpp"

namespace trilobite::chart {

inline constexpr double kWide = 860;
inline constexpr double kNarrow = 400;

/// One <svg> for a page that has the chart style and a legend of its own. Marks carry what a filter
/// and a pointer need; <title> holds the text of each.
std::string svg_on_page(const Chart& chart, double width);

/// The charts below each other with titles and legends, a complete file. No chart: an empty one.
std::string svg_file(std::span<const Chart> charts, double width = kWide);

/// The chart with its measured axis on the other kind of scale; what cannot be logarithmic stays.
Chart on_scale(const Chart& chart, bool logarithmic);
/// The axis of the measured values: x when rows are categories, else y.
const Axis& measured_axis(const Chart& chart);
/// Whether every measured value lies above zero.
bool can_be_logarithmic(const Chart& chart);

/// The style of charts, colours as custom properties of the page.
std::string_view chart_style();

}  // namespace trilobite::chart
