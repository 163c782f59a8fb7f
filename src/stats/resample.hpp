#pragma once
// Drawing with replacement, the random part of every bootstrap. Knows no statistic.

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace trilobite::stats {

/// The generator of all bootstraps: the standard fixes its output bit by bit, unlike that of the
/// standard distributions, so a seed draws the same resamples on every platform.
using Engine = std::mt19937_64;

/// Calls `use(index)` for `count` indices below `count`, each equally likely. `count` < 2^32.
/// Each 64-bit word gives two indices by multiply-and-shift; the bias is below count / 2^32, which
/// is a millionth for samples of thousands and far less than 2,000 resamples could show.
template <typename Use>
void draw_indices(Engine& engine, size_t count, Use&& use) {
  const auto pick = [count](uint64_t half) { return static_cast<size_t>((half * count) >> 32); };
  for (size_t i = 0; i + 1 < count; i += 2) {
    const uint64_t word = engine();
    use(pick(word >> 32));
    use(pick(word & 0xffffffffU));
  }
  if (count % 2 == 1) use(pick(engine() >> 32));
}

/// Draws resamples of sorted values that are sorted too, in linear time: it counts how often each
/// position is drawn and writes the values out in order. `sorted` and `engine` must outlive it.
class Resampler {
 public:
  Resampler(std::span<const double> sorted, Engine& engine);

  /// The next resample, as large as the original; valid until the next call.
  std::span<const double> draw();

 private:
  std::span<const double> sorted_;
  Engine& engine_;
  std::vector<uint32_t> times_drawn_;  // [sorted_.size()], all zero between calls
  std::vector<double> resample_;       // [sorted_.size() + spare places, see draw()]
};

}  // namespace trilobite::stats
