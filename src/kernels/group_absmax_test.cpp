#include "kernels/group_absmax.hpp"

#include <cmath>
#include <limits>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

class GroupAbsmaxOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(GroupAbsmaxOnEveryIsa);

struct Quantized {
  explicit Quantized(size_t groups)
      : codes(groups * 32, int8_t{99}), scales(groups, -1.0f), sums(groups, -1) {}
  bool operator==(const Quantized&) const = default;
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> sums;
};

size_t groups_of(const std::vector<float>& x) { return (x.size() + 31) / 32; }

/// The rule as it is written, one value after the other.
Quantized plainly_quantized(const std::vector<float>& x) {
  Quantized result(groups_of(x));
  for (size_t g = 0; g < groups_of(x); ++g) {
    float m = 0x1p-100f;
    for (size_t i = g * 32; i < std::min(x.size(), g * 32 + 32); ++i)
      m = std::max(m, std::abs(x[i]));
    result.scales[g] = m / 127;
    result.sums[g] = 0;
    for (size_t i = g * 32; i < g * 32 + 32; ++i) {
      const float value = i < x.size() ? x[i] : 0.0f;
      result.codes[i] = static_cast<int8_t>(std::nearbyint(value * (127 / m)));
      result.sums[g] += result.codes[i];
    }
  }
  return result;
}

struct Outcome {
  bool is_finite;
  Quantized quantized;
};
Outcome quantize(const std::vector<float>& x) {
  Outcome outcome{false, Quantized(groups_of(x))};
  outcome.is_finite = quantize_absmax_groups({.x = x.data(),
                                              .columns = x.size(),
                                              .codes = outcome.quantized.codes.data(),
                                              .scales = outcome.quantized.scales.data(),
                                              .sums = outcome.quantized.sums.data()});
  return outcome;
}

void expect_as_the_rule_says(const std::vector<float>& x) {
  const auto outcome = quantize(x);
  EXPECT_TRUE(outcome.is_finite);
  EXPECT_EQ(outcome.quantized, plainly_quantized(x)) << x.size();
  for (const auto code : outcome.quantized.codes) EXPECT_GE(code, -127);
}

TEST_P(GroupAbsmaxOnEveryIsa, equals_the_rule) {
  for (const size_t size : awkward_sizes()) {
    std::vector<float> x(size);
    for (size_t i = 0; i < size; ++i) x[i] = normal_at(5, 0, i);
    expect_as_the_rule_says(x);
  }
}

// 127 maps the largest value to itself, so 0.5, 1.5, ... are exact ties.
TEST_P(GroupAbsmaxOnEveryIsa, rounds_ties_to_even) {
  std::vector<float> x;
  for (int i = -126; i < 127; ++i) {
    if (x.size() % 32 == 0) x.push_back(x.size() % 64 == 0 ? 127.0f : -127.0f);
    x.push_back(static_cast<float>(i) + 0.5f);
  }
  expect_as_the_rule_says(x);
}

TEST_P(GroupAbsmaxOnEveryIsa, takes_zeros_and_the_smallest_and_largest_numbers) {
  using Limits = std::numeric_limits<float>;
  for (const float value : {0.0f, -0.0f, Limits::denorm_min(), Limits::min(), 0x1p-101f, 0x1p-100f,
                            0x1p-99f, -Limits::max()}) {
    expect_as_the_rule_says(std::vector<float>(37, value));
  }
}

TEST_P(GroupAbsmaxOnEveryIsa, scales_groups_independently) {
  std::vector<float> x(96, 1.0f);
  x[40] = 1000.0f;
  const auto [is_finite, quantized] = quantize(x);
  EXPECT_TRUE(is_finite);
  EXPECT_EQ(quantized.scales[0], 1.0f / 127);
  EXPECT_EQ(quantized.scales[1], 1000.0f / 127);
  EXPECT_EQ(quantized.sums, (std::vector<int32_t>{32 * 127, 127, 32 * 127}));
}

TEST_P(GroupAbsmaxOnEveryIsa, sees_what_is_not_finite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
        std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    for (const size_t at : {0u, 31u, 32u, 63u, 64u, 69u}) {
      std::vector<float> x(70, 1.0f);
      x[at] = bad;
      EXPECT_FALSE(quantize(x).is_finite) << at;
    }
  }
}

}  // namespace
}  // namespace trilobite::kernels
