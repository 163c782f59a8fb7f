#include "base/rng.hpp"

#include <bit>
#include <cmath>

#include "base/as241.hpp"
#include "base/error.hpp"

namespace trilobite {
namespace {

// Multipliers and Weyl increments of Philox4x32, from the paper's table.
constexpr uint64_t kMultiplier0 = 0xD2511F53;
constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;

uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }

/// Natural logarithm of a positive normal number, from IEEE operations only, so that it has the
/// same bits everywhere (libm's log does not). x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log m =
/// 2 atanh(f) with f = (m - 1) / (m + 1), |f| < 0.172, so 11 terms leave less than 1e-17.
double portable_log(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  auto exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000);
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  const double f = (mantissa - 1.0) / (mantissa + 1.0);
  const double square = f * f;
  double series = 1.0 / 21.0;
  for (int odd = 19; odd >= 1; odd -= 2) series = series * square + 1.0 / odd;
  return exponent * 0.6931471805599453 + 2.0 * f * series;
}

/// numerator and denominator in ascending powers.
template <size_t N>
double rational(double x, const std::array<double, N>& numerator,
                const std::array<double, N>& denominator) {
  double above = numerator[N - 1];
  double below = denominator[N - 1];
  for (size_t i = N - 1; i-- > 0;) {
    above = above * x + numerator[i];
    below = below * x + denominator[i];
  }
  return above / below;
}

}  // namespace

std::array<uint32_t, 4> philox(uint64_t seed, uint64_t stream, uint64_t counter) {
  std::array<uint32_t, 4> x{low(counter), high(counter), low(stream), high(stream)};
  uint32_t key0 = low(seed);
  uint32_t key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = kMultiplier0 * x[0];
    const uint64_t product1 = kMultiplier1 * x[2];
    x = {high(product1) ^ x[1] ^ key0, low(product1), high(product0) ^ x[3] ^ key1, low(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return x;
}

float normal_from_bits(uint32_t bits) {
  const double p = (bits + 0.5) * 0x1p-32;
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425)
    return static_cast<float>(q * rational(0.180625 - q * q, as241::kA, as241::kB));
  const double tail = q < 0 ? p : 1.0 - p;
  const double r = std::sqrt(-portable_log(tail));
  const double size =
      r <= 5.0 ? rational(r - 1.6, as241::kC, as241::kD) : rational(r - 5.0, as241::kE, as241::kF);
  return static_cast<float>(q < 0 ? -size : size);
}

float normal_at(uint64_t seed, uint64_t stream, uint64_t index) {
  return normal_from_bits(philox(seed, stream, index / 4)[index % 4]);
}

uint32_t Rng::next_u32() {
  if (used_ == block_.size()) {
    block_ = philox(seed_, stream_, counter_++);
    used_ = 0;
  }
  return block_[used_++];
}

uint64_t Rng::next_u64() {
  const uint64_t first = next_u32();
  return first | uint64_t{next_u32()} << 32;
}

double Rng::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

uint64_t Rng::below(uint64_t bound) {
  TRILOBITE_CHECK(bound > 0);
  // Values below this limit would make some results more likely than others.
  const uint64_t biased = (0 - bound) % bound;
  while (true) {
    const uint64_t value = next_u64();
    if (value >= biased) return value % bound;
  }
}

}  // namespace trilobite
