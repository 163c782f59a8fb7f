#include "stats/midmean.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace trilobite::stats {

double midmean(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t cut = values.size() / 4;
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(cut);
  const auto end = values.end() - static_cast<std::ptrdiff_t>(cut);
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

}  // namespace trilobite::stats
