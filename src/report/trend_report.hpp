#pragma once
// Change points for people and for programs: a table, JSON, CSV, and a chart.

#include <span>
#include <string>

#include "verdict/trend.hpp"

namespace trilobite {

/// One block per series: its changes in a table, or why there are none.
std::string trend_table(std::span<const verdict::Trend> trends, size_t width, bool color);
/// {"schema": "trilobite.trend/1", "series": [...]}; docs/verdicts.md has the members.
std::string trends_json(std::span<const verdict::Trend> trends);
/// One series alone: its members at the top, so that `.change_points[].index` is all one needs.
std::string trend_json(const verdict::Trend& trend);
/// One line per change.
std::string trend_csv(std::span<const verdict::Trend> trends);
/// One chart per series below each other: the points, the levels, a line at each change.
std::string trend_svg(std::span<const verdict::Trend> trends);

}  // namespace trilobite
