#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace trilobite {
namespace {

// Known answers of Random123's own test vectors (kat_vectors, philox4x32 10).
TEST(Philox, equals_the_published_test_vectors) {
  EXPECT_EQ(philox(0, 0, 0),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~0ull, ~0ull, ~0ull),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// These bits must never change: models and benchmark inputs are made from them.
TEST(Rng, the_first_numbers_of_seed_42_are_fixed) {
  Rng rng(42);
  EXPECT_EQ(rng.next_u32(), philox(42, 0, 0)[0]);
  EXPECT_EQ(normal_at(42, 0, 0), normal_from_bits(philox(42, 0, 0)[0]));
  uint32_t hash = 0;
  for (uint64_t i = 0; i < 10'000; ++i)
    hash = hash * 31 + std::bit_cast<uint32_t>(normal_at(42, 7, i));
  EXPECT_EQ(hash, 0xdeba5b9u) << std::hex << hash;
}

TEST(Normal, is_the_inverse_of_the_normal_distribution_over_the_whole_range) {
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 1'000'003) {
    const double p = (static_cast<double>(bits) + 0.5) / 4294967296.0;
    const double z = normal_from_bits(static_cast<uint32_t>(bits));
    // z is rounded to f32: an error of z * 2^-24 changes p by at most z^2 * 2^-24 = 2.4e-6 of
    // itself.
    EXPECT_NEAR(0.5 * std::erfc(-z / std::sqrt(2.0)), p, 3e-6 * p) << bits;
  }
  EXPECT_NEAR(normal_from_bits(0), -6.338, 0.1);
  EXPECT_EQ(normal_from_bits(0), -normal_from_bits(UINT32_MAX));
}

TEST(Normal, has_mean_zero_and_variance_one) {
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 200'000;
  Rng rng(3);
  for (int i = 0; i < kCount; ++i) {
    const double z = rng.normal();
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.01);
}

TEST(Rng, below_reaches_every_value_equally_often) {
  Rng rng(1);
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[rng.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Rng, uniform_stays_inside_its_interval) {
  Rng rng(9);
  for (int i = 0; i < 10'000; ++i) {
    const double value = rng.uniform();
    EXPECT_GE(value, 0.0);
    EXPECT_LT(value, 1.0);
  }
}

TEST(Shuffle, is_a_permutation_and_depends_on_the_seed_only) {
  std::vector<int> first(100);
  std::iota(first.begin(), first.end(), 0);
  auto second = first;
  const auto sorted = first;
  Rng rng_a(5);
  Rng rng_b(5);
  shuffle(first, rng_a);
  shuffle(second, rng_b);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, sorted);
  std::ranges::sort(first);
  EXPECT_EQ(first, sorted);
}

}  // namespace
}  // namespace trilobite
