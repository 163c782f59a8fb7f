#include "tokenizer/sha256_for_test.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace trilobite {
namespace {

using State = std::array<uint32_t, 8>;

bool is_prime(unsigned n) {
  for (unsigned i = 2; i * i <= n; ++i) {
    if (n % i == 0) return false;
  }
  return true;
}

/// The first 32 bits of the fractional parts of roots of the first primes, as the standard says.
template <size_t kCount>
std::array<uint32_t, kCount> prime_roots(long double (*root)(long double)) {
  std::array<uint32_t, kCount> bits{};
  size_t found = 0;
  for (unsigned n = 2; found < kCount; ++n) {
    if (!is_prime(n)) continue;
    const long double value = root(static_cast<long double>(n));
    bits[found++] = static_cast<uint32_t>((value - std::floor(value)) * 4294967296.0L);
  }
  return bits;
}

void take_block(State& state, const uint8_t* block) {
  static const auto kRound = prime_roots<64>(std::cbrt);
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < 16; ++i) {
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
           uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15];
    const uint32_t b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                         ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const State round{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += round[i];
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  auto state = prime_roots<8>(std::sqrt);
  std::string padded(bytes);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  for (int shift = 56; shift >= 0; shift -= 8)
    padded += static_cast<char>(uint64_t{8} * bytes.size() >> shift & 0xFF);
  for (size_t i = 0; i < padded.size(); i += 64)
    take_block(state, reinterpret_cast<const uint8_t*>(padded.data()) + i);
  std::string hex;
  for (const uint32_t word : state) hex += fmt::format("{:08x}", word);
  return hex;
}

}  // namespace trilobite
