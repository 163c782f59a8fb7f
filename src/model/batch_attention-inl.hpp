#pragma once
// The template part of batch_attention.hpp.

#include <atomic>

namespace trilobite::model {

template <typename Compute>
void BatchAttention::for_units(ThreadPool& pool, Compute&& compute) {
  // About three microseconds of work: below, a second thread does not help.
  constexpr size_t kLeastWork = size_t{1} << 15;
  if (work_ < kLeastWork || units_.size() < 2) {
    for (const Unit& unit : units_) compute(unit, 0);
    return;
  }
  std::atomic<size_t> next{0};
  pool.run([&](unsigned thread) {
    for (size_t i = next.fetch_add(1); i < units_.size(); i = next.fetch_add(1))
      compute(units_[i], thread);
  });
}

}  // namespace trilobite::model
