#include "kernels/convert.hpp"

#include <cmath>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

class Convert : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(Convert);

template <typename T>
std::vector<T> all_bit_patterns() {
  std::vector<T> values(65536);
  for (size_t i = 0; i < values.size(); ++i) values[i].bits = static_cast<uint16_t>(i);
  return values;
}

template <typename T>
void expect_every_pattern_widens_as_the_scalar_conversion(DType dtype) {
  const auto values = all_bit_patterns<T>();
  std::vector<float> wide(values.size());
  to_f32({.dtype = dtype, .from = values.data(), .to = wide.data(), .count = values.size()});
  for (size_t i = 0; i < values.size(); ++i) {
    const float expected = values[i].to_float();
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide[i])) << i;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(expected)) << i;
    }
  }
}

TEST_P(Convert, widens_every_16_bit_pattern_exactly) {
  expect_every_pattern_widens_as_the_scalar_conversion<Float16>(DType::f16);
  expect_every_pattern_widens_as_the_scalar_conversion<BFloat16>(DType::bf16);
}

/// Each 16-bit value, the ties between neighbours, and what lies just beside the ties.
template <typename T>
std::vector<float> hard_to_round() {
  std::vector<float> values;
  for (const T value : all_bit_patterns<T>()) {
    const uint32_t bits = std::bit_cast<uint32_t>(value.to_float());
    for (const uint32_t offset : {0u, 0xFFFu, 0x1000u, 0x1001u, 0x7FFFu, 0x8000u, 0x8001u}) {
      values.push_back(std::bit_cast<float>(bits + offset));
    }
  }
  return values;
}

template <typename T>
void expect_rounds_as_the_scalar_conversion(DType dtype) {
  const auto values = hard_to_round<T>();
  std::vector<T> narrow(values.size());
  from_f32({.dtype = dtype, .from = values.data(), .to = narrow.data(), .count = values.size()});
  for (size_t i = 0; i < values.size(); ++i) {
    const T expected = T::from(values[i]);
    if (std::isnan(values[i])) {
      ASSERT_TRUE(std::isnan(narrow[i].to_float())) << values[i];
    } else {
      ASSERT_EQ(narrow[i].bits, expected.bits) << values[i];
    }
  }
}

TEST_P(Convert, rounds_ties_to_even_as_the_scalar_conversion_does) {
  expect_rounds_as_the_scalar_conversion<Float16>(DType::f16);
  expect_rounds_as_the_scalar_conversion<BFloat16>(DType::bf16);
}

TEST_P(Convert, handles_every_length_and_writes_nothing_behind_it) {
  for (const auto dtype : kFloatTypes) {
    for (const size_t count : awkward_sizes()) {
      std::vector<float> values(count);
      for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 100);
      TypedArray narrow(dtype, count + 1);
      narrow.set(count, 7.0f);
      from_f32({.dtype = dtype, .from = values.data(), .to = narrow.data(), .count = count});
      std::vector<float> back(count + 1, 7.0f);
      to_f32({.dtype = dtype, .from = narrow.data(), .to = back.data(), .count = count});
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(back[i], values[i]);
      EXPECT_EQ(narrow[count], 7.0);
      EXPECT_EQ(back[count], 7.0f);
    }
  }
}

}  // namespace
}  // namespace trilobite::kernels
