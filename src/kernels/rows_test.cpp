#include "kernels/rows.hpp"

#include <cmath>
#include <limits>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

class Rows : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(Rows);

constexpr size_t kRows = 3;
constexpr float kEpsilon = 1e-5f;

TEST_P(Rows, softmax_is_within_its_bound) {
  for (const auto dtype : kFloatTypes) {
    for (const size_t columns : awkward_sizes()) {
      const auto x = TypedArray::normal(dtype, kRows * columns, 11);
      TypedArray out(dtype, kRows * columns);
      softmax(
          {.dtype = dtype, .x = x.data(), .out = out.data(), .rows = kRows, .columns = columns});
      for (size_t row = 0; row < kRows; ++row) {
        double sum = 0;
        for (size_t i = 0; i < columns; ++i) sum += std::exp(x[row * columns + i]);
        for (size_t i = 0; i < columns; ++i) {
          const double exact = std::exp(x[row * columns + i]) / sum;
          // |x - max| < 10 here; the last term is half a step of the subnormal f16 values.
          const double bound = exact * (14 * 0x1p-23 + 1.01 * unit_roundoff(dtype)) + 0x1p-25;
          ASSERT_NEAR(out[row * columns + i], exact, bound) << name_of(dtype) << " " << columns;
        }
      }
    }
  }
}

TEST_P(Rows, softmax_of_far_apart_values_does_not_overflow) {
  const auto x = TypedArray::from(DType::f32, {-1e30f, 3e38f, -3e38f, 0.0f, 1000.0f});
  TypedArray out(DType::f32, 5);
  softmax({.dtype = DType::f32, .x = x.data(), .out = out.data(), .rows = 1, .columns = 5});
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(out[i], i == 1 ? 1.0 : 0.0);
}

TEST_P(Rows, softmax_of_nan_or_of_minus_infinity_alone_is_nan) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto x = TypedArray::from(DType::f32, {-kInf, -kInf, -kInf,  //
                                               1.0f, kNan, 2.0f,     //
                                               1.0f, -kInf, 1.0f});
  TypedArray out(DType::f32, 9);
  softmax({.dtype = DType::f32, .x = x.data(), .out = out.data(), .rows = 3, .columns = 3});
  for (size_t i = 0; i < 6; ++i) EXPECT_TRUE(std::isnan(out[i])) << i;
  EXPECT_EQ(out[6], 0.5);
  EXPECT_EQ(out[7], 0.0);
}

/// Mean and 1 / sqrt(mean square distance from it + epsilon) of a row.
struct Moments {
  double center = 0;
  double scale = 0;
};
Moments moments_of(const TypedArray& x, size_t begin, size_t columns, bool centered) {
  Moments moments;
  for (size_t i = 0; centered && i < columns; ++i) moments.center += x[begin + i];
  moments.center /= static_cast<double>(columns);
  double squares = 0;
  for (size_t i = 0; i < columns; ++i) squares += std::pow(x[begin + i] - moments.center, 2);
  moments.scale =
      1 / std::sqrt(squares / static_cast<double>(columns) + static_cast<double>(kEpsilon));
  return moments;
}

TEST_P(Rows, norms_agree_with_their_definition) {
  for (const auto dtype : kFloatTypes) {
    for (const size_t columns : awkward_sizes()) {
      const auto x = TypedArray::normal(dtype, kRows * columns, 12);
      const auto weight = TypedArray::normal(dtype, columns, 13);
      const auto bias = TypedArray::normal(dtype, columns, 14);
      for (const bool centered : {false, true}) {
        TypedArray out(dtype, kRows * columns);
        const NormCall call{.dtype = dtype,
                            .x = x.data(),
                            .weight = weight.data(),
                            .bias = bias.data(),
                            .out = out.data(),
                            .rows = kRows,
                            .columns = columns,
                            .epsilon = kEpsilon};
        centered ? layernorm(call) : rmsnorm(call);
        for (size_t i = 0; i < kRows * columns; ++i) {
          const auto moments = moments_of(x, i / columns * columns, columns, centered);
          const size_t column = i % columns;
          const double exact = (x[i] - moments.center) * moments.scale * weight[column] +
                               (centered ? bias[column] : 0.0);
          ASSERT_NEAR(out[i], exact, 4e-6 + 1.01 * std::abs(exact) * unit_roundoff(dtype))
              << name_of(dtype) << " " << columns << " at " << i;
          if (columns > 100) i += columns / 7;  // the moments of every element would take long
        }
      }
    }
  }
}

}  // namespace
}  // namespace trilobite::kernels
