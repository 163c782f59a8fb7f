#pragma once
// The answer of `trend`: the change points of a series with dates, commits and what caused them as
// far as a control series tells.

#include <optional>
#include <string>
#include <vector>

#include "verdict/change_points.hpp"
#include "verdict/series.hpp"

namespace trilobite::verdict {

enum class Cause {
  unknown,  ///< there is no control series
  code,     ///< the control did not move
  machine,  ///< the control moved too: the machine changed, not what is measured
};
std::string_view name_of(Cause cause);

struct TrendChange {
  ChangePoint change;  // its index counts points
  SeriesPoint first;   // the first point of the new level
  Cause cause = Cause::unknown;
  std::optional<double> control_change;  // relative, around the same point
};

struct Trend {
  Series series;
  std::vector<TrendChange> changes;
  std::string note;  // why there is no answer, or empty
};

/// `control`, when given, has a value for the same rows (others are not used): something that the
/// code does not change, measured in the same runs. A change of which the control shows at least
/// half, in the same direction and clear of zero, is the machine's.
Trend analyse_trend(Series series, const Series* control, const ChangePointSettings& settings);

}  // namespace trilobite::verdict
