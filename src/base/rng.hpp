#pragma once
// Random numbers that are the same on every platform, compiler and thread count: Philox4x32-10
// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). It is counter-based: number
// i of a stream is a pure function of (seed, stream, i), so threads can fill a tensor in any order.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace trilobite {

/// Four 32-bit words for block `counter` of `stream` under `seed`.
std::array<uint32_t, 4> philox(uint64_t seed, uint64_t stream, uint64_t counter);

/// Standard normal value from one 32-bit word: the inverse normal distribution at (bits + 0.5) /
/// 2^32, by Wichura's AS241 in double. Uses only + - * / and sqrt, which IEEE 754 fixes to the last
/// bit. |result| < 6.3.
float normal_from_bits(uint32_t bits);

/// Number `index` of a stream of standard normal values.
float normal_at(uint64_t seed, uint64_t stream, uint64_t index);

/// A sequential view of one stream.
class Rng {
 public:
  explicit Rng(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  uint32_t next_u32();
  uint64_t next_u64();
  /// In [0, 1), 53 random bits.
  double uniform();
  /// In [0, bound), without bias; bound must be positive.
  uint64_t below(uint64_t bound);
  float normal() { return normal_from_bits(next_u32()); }

  // So that std::shuffle's replacement below and standard distributions can use it.
  using result_type = uint32_t;
  static constexpr uint32_t min() { return 0; }
  static constexpr uint32_t max() { return UINT32_MAX; }
  uint32_t operator()() { return next_u32(); }

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t counter_ = 0;
  std::array<uint32_t, 4> block_{};
  unsigned used_ = 4;
};

/// Fisher-Yates; std::shuffle's result differs between standard libraries.
template <typename Range>
void shuffle(Range& range, Rng& rng) {
  for (size_t i = range.size(); i > 1; --i) {
    const auto j = static_cast<size_t>(rng.below(i));
    using std::swap;
    swap(range[i - 1], range[j]);
  }
}

}  // namespace trilobite
