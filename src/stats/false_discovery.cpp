#include "stats/false_discovery.hpp"

#include <algorithm>
#include <numeric>

namespace trilobite::stats {

std::vector<double> adjusted_p_values(std::span<const double> p_values) {
  const size_t count = p_values.size();
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return p_values[i]; });
  std::vector<double> adjusted(count);
  double smallest = 1;
  for (size_t rank = count; rank > 0; --rank) {
    const size_t i = order[rank - 1];
    smallest =
        std::min(smallest, p_values[i] * static_cast<double>(count) / static_cast<double>(rank));
    adjusted[i] = smallest;
  }
  return adjusted;
}

}  // namespace trilobite::stats
