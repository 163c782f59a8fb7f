#pragma once
// The parts of a chart as SVG text: axes, rules, marks, legend. Inside of chart/ only.

#include <string>

#include "report/chart/layout.hpp"

namespace trilobite::chart {

std::string draw_axes(const Chart& chart, const Layout& layout);
std::string draw_rules(const Chart& chart, const Layout& layout);
std::string draw_marks(const Chart& chart, const Layout& layout);
/// Keys in lines of at most `width`, the first line at `top`.
std::string draw_legend(const Chart& chart, double left, double top, double width);
double legend_height(const Chart& chart, double width);

/// Coordinates as short as they can be: one decimal, none when it is 0.
std::string coordinate(double value);
/// <title> of an element; nothing for no text.
std::string hover_text(const std::string& text);
/// A path around (x, y): circle, square, triangle, diamond, by turns, so that colour is not the
/// only difference.
std::string symbol(size_t color, double x, double y, double radius);

}  // namespace trilobite::chart
