#include "stats/resample.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace trilobite::stats {

namespace {
// How often a value is drawn is Poisson with mean 1, which no branch predictor guesses; writing
// four copies and advancing by the right number needs a branch for one value in 270 only. The
// surplus is overwritten by the next value, or lands in the spare places at the end.
constexpr size_t kWrittenAtOnce = 4;
}  // namespace

Resampler::Resampler(std::span<const double> sorted, Engine& engine)
    : sorted_(sorted),
      engine_(engine),
      times_drawn_(sorted.size()),
      resample_(sorted.size() + kWrittenAtOnce) {
  TRILOBITE_CHECK(!sorted.empty() && sorted.size() <= std::numeric_limits<uint32_t>::max());
}

std::span<const double> Resampler::draw() {
  draw_indices(engine_, sorted_.size(), [&](size_t index) { ++times_drawn_[index]; });
  double* out = resample_.data();
  for (size_t i = 0; i < sorted_.size(); ++i) {
    const size_t times = std::exchange(times_drawn_[i], 0);
    std::fill_n(out, kWrittenAtOnce, sorted_[i]);
    if (times > kWrittenAtOnce) std::fill_n(out, times, sorted_[i]);
    out += times;
  }
  return std::span(resample_).first(sorted_.size());
}

}  // namespace trilobite::stats
