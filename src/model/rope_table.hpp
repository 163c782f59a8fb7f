#pragma once
// The cosines and sines of RoPE for every position, computed once.

#include <span>
#include <vector>

#include "model/config.hpp"

namespace trilobite::model {

class RopeTable {
 public:
  /// `factors` divide the frequencies, one for each pair; empty: all 1.
  RopeTable(const RopeConfig& rope, size_t positions, std::span<const float> factors);

  std::span<const float> cosines(size_t position) const { return row(cosines_, position); }
  std::span<const float> sines(size_t position) const { return row(sines_, position); }
  size_t bytes() const { return (cosines_.size() + sines_.size()) * sizeof(float); }

 private:
  std::span<const float> row(const std::vector<float>& table, size_t position) const {
    return std::span(table).subspan(position * pairs_, pairs_);
  }
  size_t pairs_;
  std::vector<float> cosines_;  // [positions][pairs]
  std::vector<float> sines_;
};

}  // namespace trilobite::model
