#include "stats/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trilobite::stats {

Result<Sample> Sample::from(std::vector<double> values) {
  if (values.empty()) return fail("a sample needs at least one value, this one is empty");
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      return fail(
          fmt::format("value {} of {} in the sample is not a number", i + 1, values.size()));
    }
    if (std::abs(values[i]) > kMaxMagnitude) {
      return fail(
          fmt::format("value {} of {} in the sample is {}; only finite values up to {} count",
                      i + 1, values.size(), values[i], kMaxMagnitude));
    }
  }
  std::ranges::sort(values);
  return Sample(std::move(values));
}

}  // namespace trilobite::stats
