#include "kernels/elementwise.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

class Elementwise : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(Elementwise);

double exact(Activation op, double x, double beta) {
  switch (op) {
    case Activation::relu: return x < 0 ? 0.0 : x;
    case Activation::gelu_tanh:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::gelu_erf: return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::swish: return x / (1 + std::exp(-beta * x));
  }
  return 0;
}

constexpr Activation kActivations[] = {Activation::relu, Activation::gelu_tanh,
                                       Activation::gelu_erf, Activation::swish};

TEST_P(Elementwise, sums_and_products_are_correctly_rounded) {
  for (const auto dtype : kFloatTypes) {
    for (const size_t count : awkward_sizes()) {
      const auto a = TypedArray::normal(dtype, count, 1);
      const auto b = TypedArray::normal(dtype, count, 2);
      for (const auto op : {Binary::add, Binary::mul}) {
        TypedArray out(dtype, count);
        binary({.op = op,
                .dtype = dtype,
                .a = a.data(),
                .b = b.data(),
                .out = out.data(),
                .count = count});
        for (size_t i = 0; i < count; ++i) {
          const double exact = op == Binary::add ? a[i] + b[i] : a[i] * b[i];
          TypedArray rounded(dtype, 1);
          rounded.set(0, static_cast<float>(exact));
          ASSERT_EQ(out[i], rounded[0]) << name_of(dtype) << " " << count << " at " << i;
        }
      }
    }
  }
}

TEST_P(Elementwise, results_stored_past_the_caches_are_the_same_from_any_alignment) {
  for (const auto dtype : kFloatTypes) {
    for (const size_t skew : std::initializer_list<size_t>{0, 1, 3, 15}) {
      for (const size_t count : awkward_sizes()) {
        const auto a = TypedArray::normal(dtype, count, 1, skew);
        TypedArray cached(dtype, count, skew);
        TypedArray streamed(dtype, count, skew);
        BinaryCall call{.op = Binary::add,
                        .dtype = dtype,
                        .a = a.data(),
                        .b = a.data(),
                        .out = cached.data(),
                        .count = count};
        binary(call);
        call.out = streamed.data();
        call.store_to = StoreTo::memory;
        binary(call);
        ASSERT_TRUE(cached.same_bits(streamed)) << name_of(dtype) << skew << " " << count;
      }
    }
  }
}

TEST_P(Elementwise, activations_are_within_their_bounds) {
  for (const auto dtype : kFloatTypes) {
    for (const size_t count : awkward_sizes()) {
      auto x = TypedArray::normal(dtype, count, 3);
      for (size_t i = 0; i < count; i += 3) x.set(i, 8.0f * static_cast<float>(x[i]));
      for (const auto op : kActivations) {
        TypedArray out(dtype, count);
        activation({.op = op,
                    .dtype = dtype,
                    .x = x.data(),
                    .out = out.data(),
                    .count = count,
                    .beta = 1.5f});
        for (size_t i = 0; i < count; ++i) {
          const double expected = exact(op, x[i], 1.5);
          // 16-bit results are rounded once more; 2^-25 covers the subnormal ones of f16.
          const double bound = 3e-7 * (1 + std::abs(x[i])) +
                               std::abs(expected) * unit_roundoff(dtype) * 1.01 + 0x1p-25;
          ASSERT_NEAR(out[i], expected, bound)
              << name_of(dtype) << " op " << static_cast<int>(op) << " x " << x[i];
        }
      }
    }
  }
}

TEST_P(Elementwise, gelu_keeps_relative_accuracy_in_the_left_tail) {
  std::vector<float> values;
  for (float x = -12.0f; x < 0.0f; x += 0.01f) values.push_back(x);
  const auto x = TypedArray::from(DType::f32, values);
  TypedArray out(DType::f32, values.size());
  activation({.op = Activation::gelu_erf,
              .dtype = DType::f32,
              .x = x.data(),
              .out = out.data(),
              .count = values.size()});
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = exact(Activation::gelu_erf, x[i], 1);
    ASSERT_NEAR(out[i], expected, std::abs(expected) * 1e-7 * (6 + x[i] * x[i])) << x[i];
  }
}

TEST_P(Elementwise, activations_propagate_nan_and_infinity) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const auto dtype : kFloatTypes) {
    const auto x = TypedArray::from(dtype, {kNan, kInf, -200.0f, 0.0f, kNan});
    for (const auto op : kActivations) {
      TypedArray out(dtype, x.size());
      activation({.op = op, .dtype = dtype, .x = x.data(), .out = out.data(), .count = x.size()});
      EXPECT_TRUE(std::isnan(out[0]));
      EXPECT_EQ(out[1], std::numeric_limits<double>::infinity());
      EXPECT_EQ(out[2], 0.0);
      EXPECT_EQ(out[3], 0.0);
      EXPECT_TRUE(std::isnan(out[4]));
    }
  }
}

TEST_P(Elementwise, fill_writes_every_element_and_nothing_else) {
  for (const auto dtype : kFloatTypes) {
    for (const size_t count : awkward_sizes()) {
      for (const auto store_to : {StoreTo::cache, StoreTo::memory}) {
        TypedArray out(dtype, count + 1);
        out.set(count, 7.0f);
        fill({.dtype = dtype,
              .value = 1.0f,
              .out = out.data(),
              .count = count,
              .store_to = store_to});
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], 1.0);
        EXPECT_EQ(out[count], 7.0);
      }
    }
  }
}

}  // namespace
}  // namespace trilobite::kernels
