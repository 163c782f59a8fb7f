#include "model/rope_table.hpp"

#include <cmath>

namespace trilobite::model {

RopeTable::RopeTable(const RopeConfig& rope, size_t positions, std::span<const float> factors)
    : pairs_(rope.dimensions / 2) {
  std::vector<double> frequencies(pairs_);
  for (size_t i = 0; i < pairs_; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(rope.dimensions);
    const double factor = factors.empty() ? 1.0 : static_cast<double>(factors[i]);
    frequencies[i] = rope.position_factor * std::pow(rope.base, exponent) / factor;
  }
  cosines_.reserve(positions * pairs_);
  sines_.reserve(positions * pairs_);
  for (size_t position = 0; position < positions; ++position) {
    for (const double frequency : frequencies) {
      const double angle = static_cast<double>(position) * frequency;
      cosines_.push_back(static_cast<float>(std::cos(angle)));
      sines_.push_back(static_cast<float>(std::sin(angle)));
    }
  }
}

}  // namespace trilobite::model
