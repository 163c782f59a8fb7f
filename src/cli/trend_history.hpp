#pragma once
// Trends of the benchmarks in a store.

#include "store/history.hpp"
#include "verdict/trend.hpp"

namespace trilobite::cli {

struct TrendSelection {
  std::string pattern;  // ECMAScript, searched anywhere in the id; empty: all
  std::string control;  // id of the control benchmark; empty: none
};

/// One trend per benchmark and machine, in the order of names. Fails when nothing matches or the
/// control does not exist.
Result<std::vector<verdict::Trend>> trends_in(store::History& history,
                                              const TrendSelection& selection,
                                              const verdict::ChangePointSettings& settings);

}  // namespace trilobite::cli
