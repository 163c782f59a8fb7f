#pragma once
// The cosines and sines of RoPE for every position, computed once.

#include <span>

#include "base/aligned_buffer.hpp"
#include "model/config.hpp"

namespace trilobite::model {

class RopeTable {
 public:
  /// `factors` divide the frequencies, one for each pair; empty: all 1. Errors: a factor that
  /// nothing can be divided by, a table that does not fit in memory.
  static Result<RopeTable> create(const RopeConfig& rope, size_t positions,
                                  std::span<const float> factors);

  std::span<const float> cosines(size_t position) const { return row(2 * position); }
  std::span<const float> sines(size_t position) const { return row(2 * position + 1); }
  size_t bytes() const { return table_.size(); }

 private:
  std::span<const float> row(size_t index) const {
    return {reinterpret_cast<const float*>(table_.data()) + index * pairs_, pairs_};
  }
  size_t pairs_ = 0;
  AlignedBuffer table_;  // [positions][cosines, sines][pairs]
};

}  // namespace trilobite::model
