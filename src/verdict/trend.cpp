#include "verdict/trend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/hodges_lehmann.hpp"

namespace trilobite::verdict {
namespace {

constexpr size_t kControlWindow = 30;  // points on each side
constexpr size_t kLeastControlPoints = 4;

std::vector<double> control_values(const Series& control, size_t first_row, size_t end_row) {
  std::vector<double> values;
  for (const auto& point : control.points) {
    if (point.index >= first_row && point.index < end_row && point.value > 0)
      values.push_back(std::log(point.value));
  }
  return values;
}

/// The rows around change `at` that lie between its neighbours.
struct Rows {
  size_t begin, at, end;
};

Rows rows_around(const Trend& trend, size_t change) {
  const auto& points = trend.series.points;
  const size_t at = trend.changes[change].change.index;
  const size_t lowest = change == 0 ? 0 : trend.changes[change - 1].change.index;
  const size_t highest =
      change + 1 < trend.changes.size() ? trend.changes[change + 1].change.index : points.size();
  const size_t begin = std::max(lowest, at > kControlWindow ? at - kControlWindow : 0);
  const size_t last = std::min(highest, at + kControlWindow) - 1;
  return {points[begin].index, points[at].index, points[last].index + 1};
}

void judge_by_control(TrendChange& change, const Series& control, const Rows& rows) {
  const auto before = control_values(control, rows.begin, rows.at);
  const auto after = control_values(control, rows.at, rows.end);
  if (before.size() < kLeastControlPoints || after.size() < kLeastControlPoints) return;
  const auto shift = stats::hodges_lehmann(before, after, 0.99);
  change.control_change = std::expm1(shift.value);
  const double step = std::log1p(std::max(change.change.change, -0.999));
  const bool same_direction = shift.value * step > 0;
  const bool clear = !shift.interval.contains(0);
  change.cause = clear && same_direction && std::abs(shift.value) >= std::abs(step) / 2
                     ? Cause::machine
                     : Cause::code;
}

}  // namespace

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::code: return "code";
    case Cause::machine: return "machine";
    case Cause::unknown: break;
  }
  return "unknown";
}

Trend analyse_trend(Series series, const Series* control, const ChangePointSettings& settings) {
  Trend trend{.series = std::move(series), .changes = {}, .note = {}};
  const auto values = trend.series.values();
  if (values.size() < settings.smallest_series) {
    trend.note =
        fmt::format("{} point{}; a change needs at least {} to be told from noise", values.size(),
                    values.size() == 1 ? "" : "s", settings.smallest_series);
    return trend;
  }
  for (auto& change : find_change_points(values, settings)) {
    trend.changes.push_back(
        {.change = change, .first = trend.series.points[change.index], .control_change = {}});
  }
  if (control != nullptr) {
    for (size_t i = 0; i < trend.changes.size(); ++i)
      judge_by_control(trend.changes[i], *control, rows_around(trend, i));
  }
  return trend;
}

}  // namespace trilobite::verdict
