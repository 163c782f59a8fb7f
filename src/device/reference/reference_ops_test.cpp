#include "device/reference/reference_ops.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

Tensor tensor_of(const Shape& shape, const std::vector<float>& values, DType dtype = DType::f32) {
  auto tensor = Tensor::create(shape, dtype).value();
  for (size_t i = 0; i < values.size(); ++i) {
    store_from_float(tensor.view(), static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

std::vector<float> result_of(OpCall call, const Shape& shape, DType dtype = DType::f32) {
  auto out = Tensor::create(shape, dtype).value();
  call.out = out.view();
  const auto checked = check_call(call);
  EXPECT_TRUE(checked) << checked.error().message();
  compute_reference(call);
  std::vector<float> values;
  for (int64_t i = 0; i < shape.elements(); ++i) values.push_back(load_as_float(call.out, i));
  return values;
}

using Floats = std::vector<float>;

TEST(ReferenceOps, products_match_a_hand_computed_answer) {
  const auto a = tensor_of({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto b = tensor_of({3, 2}, {7, 8, 9, 10, 11, 12});
  EXPECT_EQ(result_of({.op = Op::matmul, .inputs = {a.view(), b.view()}}, {2, 2}),
            (Floats{58, 64, 139, 154}));
  const auto at = a.view().transpose(0, 1);
  const auto bt = b.view().transpose(0, 1);
  EXPECT_EQ(result_of({.op = Op::matmul, .inputs = {at, bt}}, {3, 3}),
            (Floats{39, 49, 59, 54, 68, 82, 69, 87, 105}));
}

TEST(ReferenceOps, a_matrix_is_used_for_each_batch_and_batches_pair_up) {
  const auto a = tensor_of({2, 1, 2}, {1, 2, 3, 4});
  const auto shared = tensor_of({2, 1}, {10, 1});
  const auto paired = tensor_of({2, 2, 1}, {10, 1, 100, 1});
  EXPECT_EQ(result_of({.op = Op::matmul, .inputs = {a.view(), shared.view()}}, {2, 1, 1}),
            (Floats{12, 34}));
  EXPECT_EQ(result_of({.op = Op::matmul, .inputs = {a.view(), paired.view()}}, {2, 1, 1}),
            (Floats{12, 304}));
}

TEST(ReferenceOps, an_empty_inner_dimension_gives_zeros) {
  const auto a = tensor_of({2, 0}, {});
  const auto b = tensor_of({0, 2}, {});
  EXPECT_EQ(result_of({.op = Op::matmul, .inputs = {a.view(), b.view()}}, {2, 2}),
            (Floats{0, 0, 0, 0}));
}

TEST(ReferenceOps, sums_do_not_lose_what_f32_would) {
  const auto a = tensor_of({4}, {1e8f, 1, -1e8f, 1});
  EXPECT_EQ(result_of({.op = Op::sum, .inputs = {a.view()}}, {}), Floats{2});
  EXPECT_EQ(result_of({.op = Op::mean, .inputs = {a.view()}}, {}), Floats{0.5});
}

TEST(ReferenceOps, the_mean_of_nothing_is_not_a_number_and_its_sum_is_zero) {
  const auto nothing = tensor_of({0, 3}, {});
  EXPECT_TRUE(std::isnan(result_of({.op = Op::mean, .inputs = {nothing.view()}}, {})[0]));
  EXPECT_EQ(result_of({.op = Op::sum, .inputs = {nothing.view()}}, {}), Floats{0});
}

TEST(ReferenceOps, softmax_stands_large_values_and_masks) {
  const float masked = -std::numeric_limits<float>::infinity();
  const auto a = tensor_of({2, 2}, {1e30f, 1e30f, masked, -5});
  EXPECT_EQ(result_of({.op = Op::softmax, .inputs = {a.view()}}, {2, 2}), (Floats{0.5, 0.5, 0, 1}));
}

TEST(ReferenceOps, moving_data_follows_the_views) {
  const auto a = tensor_of({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto flipped = a.view().transpose(0, 1);
  EXPECT_EQ(result_of({.op = Op::transpose, .inputs = {a.view()}}, {3, 2}),
            (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(result_of({.op = Op::transpose, .inputs = {flipped}}, {2, 3}),
            (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(result_of({.op = Op::reshape, .inputs = {flipped}}, {6}), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(result_of({.op = Op::slice, .inputs = {a.view()}, .begin = 1, .end = 3}, {2, 2}),
            (Floats{2, 3, 5, 6}));
}

TEST(ReferenceOps, activations_have_their_known_values) {
  const auto x = tensor_of({3}, {-1, 0, 1});
  const auto close = [](const Floats& got, const Floats& expected) {
    for (size_t i = 0; i < got.size(); ++i) EXPECT_FLOAT_EQ(got[i], expected[i]);
  };
  // From scipy: x * norm.cdf(x), x * expit(x), x * expit(2 x) and the tanh formula with numpy.
  close(result_of({.op = Op::relu, .inputs = {x.view()}}, {3}), {0, 0, 1});
  close(result_of({.op = Op::gelu_erf, .inputs = {x.view()}}, {3}), {-0.15865525f, 0, 0.84134475f});
  close(result_of({.op = Op::gelu_tanh, .inputs = {x.view()}}, {3}), {-0.158808f, 0, 0.841192f});
  close(result_of({.op = Op::silu, .inputs = {x.view()}}, {3}), {-0.26894142f, 0, 0.7310586f});
  close(result_of({.op = Op::swish, .inputs = {x.view()}, .beta = 2}, {3}),
        {-0.11920292f, 0, 0.8807971f});
}

TEST(ReferenceOps, norms_match_a_hand_computed_answer) {
  const auto x = tensor_of({1, 2}, {3, 4});
  const auto weight = tensor_of({2}, {1, 2});
  const auto bias = tensor_of({2}, {10, 20});
  const auto rms =
      result_of({.op = Op::rmsnorm, .inputs = {x.view(), weight.view()}, .epsilon = 0}, {1, 2});
  EXPECT_FLOAT_EQ(rms[0], 3 / std::sqrt(12.5f));
  EXPECT_FLOAT_EQ(rms[1], 8 / std::sqrt(12.5f));
  EXPECT_EQ(
      result_of(
          {.op = Op::layernorm, .inputs = {x.view(), weight.view(), bias.view()}, .epsilon = 0},
          {1, 2}),
      (Floats{9, 22}));
}

TEST(ReferenceOps, random_values_are_those_of_the_counter_based_stream) {
  const auto values = result_of({.op = Op::randn, .inputs = {}, .seed = 7}, {2, 3});
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(values[i], normal_at(7, 0, i));
}

TEST(ReferenceOps, a_16_bit_result_is_rounded_once) {
  // 1 + 2^-11 is halfway between two f16 values and 2^-29 decides upwards; the nearest f32 would
  // lose the 2^-29, and the tie would then go to the even value below.
  const auto a = tensor_of({1, 3}, {1, std::ldexp(1.0f, -11), std::ldexp(1.0f, -15)}, DType::f16);
  const auto b = tensor_of({3, 1}, {1, 1, std::ldexp(1.0f, -14)}, DType::f16);
  EXPECT_EQ(result_of({.op = Op::matmul, .inputs = {a.view(), b.view()}}, {1, 1}, DType::f16),
            Floats{1 + std::ldexp(1.0f, -10)});
}

}  // namespace
}  // namespace trilobite
