#include "device/op.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;

Tensor make(const Shape& shape, DType dtype = DType::f32) {
  return Tensor::create(shape, dtype).value();
}

/// The message of check_call, "" when it accepts.
std::string complaint(const OpCall& call) {
  const auto checked = check_call(call);
  return checked ? "" : checked.error().message();
}

/// A call of `op` on inputs of these shapes into an output of that shape.
struct Fixture {
  Fixture(Op op, const std::vector<Shape>& inputs, const Shape& out) : output(make(out)) {
    for (const auto& shape : inputs) tensors.push_back(make(shape));
    call = {.op = op, .inputs = {}, .out = output.view()};
    for (const auto& tensor : tensors) call.inputs.push_back(tensor.view());
  }
  std::vector<Tensor> tensors;
  Tensor output;
  OpCall call;
};

TEST(Op, names_are_unique_and_can_be_read_back) {
  EXPECT_EQ(all_ops().size(), 19u);
  for (const Op op : all_ops()) EXPECT_EQ(op_from_name(name_of(op)), op);
  EXPECT_EQ(op_from_name("conv"), std::nullopt);
  EXPECT_EQ(op_from_name(""), std::nullopt);
}

TEST(Op, fitting_calls_are_accepted) {
  EXPECT_EQ(complaint(Fixture(Op::zeros, {}, {}).call), "");
  EXPECT_EQ(complaint(Fixture(Op::add, {{2, 3}, {2, 3}}, {2, 3}).call), "");
  EXPECT_EQ(complaint(Fixture(Op::matmul, {{2, 3}, {3, 4}}, {2, 4}).call), "");
  EXPECT_EQ(complaint(Fixture(Op::matmul, {{5, 2, 3}, {5, 3, 4}}, {5, 2, 4}).call), "");
  EXPECT_EQ(complaint(Fixture(Op::matmul, {{5, 2, 3}, {3, 4}}, {5, 2, 4}).call), "");
  EXPECT_EQ(complaint(Fixture(Op::matmul, {{2, 0}, {0, 4}}, {2, 4}).call), "");
  EXPECT_EQ(complaint(Fixture(Op::sum, {{2, 3}}, {}).call), "");
  EXPECT_EQ(complaint(Fixture(Op::transpose, {{5, 2, 3}}, {5, 3, 2}).call), "");
  EXPECT_EQ(complaint(Fixture(Op::reshape, {{2, 3}}, {6}).call), "");
  EXPECT_EQ(complaint(Fixture(Op::relu, {{}}, {}).call), "");
  EXPECT_EQ(complaint(Fixture(Op::layernorm, {{2, 3}, {3}, {3}}, {2, 3}).call), "");
}

TEST(Op, a_wrong_number_of_inputs_is_refused) {
  EXPECT_EQ(complaint(Fixture(Op::add, {{2}}, {2}).call), "add: takes 2 inputs, got 1");
  EXPECT_EQ(complaint(Fixture(Op::zeros, {{2}}, {2}).call), "zeros: takes 0 inputs, got 1");
  EXPECT_THAT(complaint(Fixture(Op::layernorm, {{2}, {2}}, {2}).call), HasSubstr("takes 3"));
}

TEST(Op, types_must_agree_and_be_floating) {
  Fixture fixture(Op::relu, {{2}}, {2});
  auto half = make({2}, DType::f16);
  fixture.call.inputs[0] = half.view();
  EXPECT_EQ(complaint(fixture.call),
            "relu: the output is f32 but an input is f16; convert one of them");
  auto bytes = make({2}, DType::i8);
  fixture.call.inputs[0] = bytes.view();
  fixture.call.out = bytes.view();
  EXPECT_EQ(complaint(fixture.call), "relu: works on f32, f16 and bf16, not on i8");
}

TEST(Op, shapes_that_do_not_fit_are_refused) {
  EXPECT_THAT(complaint(Fixture(Op::mul, {{2, 3}, {3, 2}}, {2, 3}).call),
              HasSubstr("2x3 and 3x2; they must have the same shape"));
  EXPECT_THAT(complaint(Fixture(Op::matmul, {{2, 3}, {4, 5}}, {2, 5}).call),
              HasSubstr("2x3 times 4x5: the inner dimensions differ"));
  EXPECT_THAT(complaint(Fixture(Op::matmul, {{2, 3}, {2, 3, 4}}, {2, 4}).call),
              HasSubstr("2 dimensions or as many as the first"));
  EXPECT_THAT(complaint(Fixture(Op::matmul, {{2, 2, 3}, {3, 3, 4}}, {2, 2, 4}).call),
              HasSubstr("batch dimensions differ"));
  EXPECT_THAT(complaint(Fixture(Op::reshape, {{2, 3}}, {7}).call), HasSubstr("6 elements"));
  EXPECT_THAT(complaint(Fixture(Op::rmsnorm, {{2, 3}, {2}}, {2, 3}).call),
              HasSubstr("the weight of rows of 2x3 must be 3, got 2"));
  EXPECT_THAT(complaint(Fixture(Op::layernorm, {{2, 3}, {3}, {1, 3}}, {2, 3}).call),
              HasSubstr("the bias"));
  EXPECT_THAT(complaint(Fixture(Op::relu, {{2, 3}}, {3, 2}).call),
              HasSubstr("the output must be 2x3, got 3x2"));
  EXPECT_THAT(complaint(Fixture(Op::sum, {{2, 3}}, {1}).call),
              HasSubstr("the output must be scalar"));
}

TEST(Op, scalars_are_refused_where_a_dimension_is_needed) {
  EXPECT_THAT(complaint(Fixture(Op::softmax, {{}}, {}).call), HasSubstr("at least 1 dimension,"));
  EXPECT_THAT(complaint(Fixture(Op::slice, {{}}, {}).call), HasSubstr("at least 1 dimension,"));
  EXPECT_THAT(complaint(Fixture(Op::transpose, {{3}}, {3}).call), HasSubstr("2 dimensions"));
  EXPECT_THAT(complaint(Fixture(Op::matmul, {{}, {2, 2}}, {}).call), HasSubstr("2 dimensions"));
}

TEST(Op, a_slice_must_lie_within_the_last_dimension) {
  const std::vector<std::pair<int64_t, int64_t>> outside{
      {-1, 2}, {2, 1}, {0, 6}, {6, 6}, {0, std::numeric_limits<int64_t>::max()}};
  Fixture fixture(Op::slice, {{4, 5}}, {4, 2});
  for (const auto& [begin, end] : outside) {
    fixture.call.begin = begin;
    fixture.call.end = end;
    EXPECT_THAT(complaint(fixture.call), HasSubstr("is not within the last dimension of 4x5"));
  }
  fixture.call.begin = 3;
  fixture.call.end = 5;
  EXPECT_EQ(complaint(fixture.call), "");
}

TEST(Op, parameters_must_be_finite) {
  Fixture norm(Op::rmsnorm, {{2, 3}, {3}}, {2, 3});
  norm.call.epsilon = -1;
  EXPECT_THAT(complaint(norm.call), HasSubstr("epsilon"));
  Fixture swish(Op::swish, {{2}}, {2});
  swish.call.beta = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(complaint(swish.call), HasSubstr("beta"));
}

TEST(Op, the_output_must_be_dense_memory_of_its_own) {
  Fixture fixture(Op::relu, {{3, 3}}, {3, 3});
  const auto dense = fixture.call.out;
  fixture.call.out = dense.transpose(0, 1);
  EXPECT_THAT(complaint(fixture.call), HasSubstr("dense and row-major"));
  fixture.call.out = TensorView(nullptr, DType::f32, {3, 3});
  EXPECT_THAT(complaint(fixture.call), HasSubstr("the output has no memory"));
  fixture.call.out = dense;
  fixture.call.inputs[0] = ConstTensorView(nullptr, DType::f32, {3, 3});
  EXPECT_THAT(complaint(fixture.call), HasSubstr("an input has no memory"));
  fixture.call.inputs[0] = dense;
  EXPECT_THAT(complaint(fixture.call), HasSubstr("overlaps an input"));
}

TEST(Op, a_view_that_runs_backwards_into_the_output_is_found) {
  auto memory = make({18});
  const auto bytes = memory.view();
  OpCall call{.op = Op::relu,
              .inputs = {ConstTensorView(bytes.at(17), DType::f32, {3, 3}, {-3, -1})},
              .out = TensorView(bytes.at(0), DType::f32, {3, 3})};
  EXPECT_EQ(complaint(call), "");
  call.inputs = {ConstTensorView(bytes.at(16), DType::f32, {3, 3}, {-3, -1})};
  EXPECT_THAT(complaint(call), HasSubstr("overlaps an input"));
}

TEST(Op, costs_follow_the_documented_convention) {
  const auto product = cost_of(Fixture(Op::matmul, {{5, 2, 3}, {3, 4}}, {5, 2, 4}).call);
  EXPECT_EQ(product.flops, 5 * 2.0 * 2 * 3 * 4);
  EXPECT_EQ(product.bytes_read, 4.0 * (30 + 12));
  EXPECT_EQ(product.bytes_written, 4.0 * 40);
  EXPECT_EQ(cost_of(Fixture(Op::sum, {{6, 7}}, {}).call).flops, 42);
  EXPECT_EQ(cost_of(Fixture(Op::transpose, {{6, 7}}, {7, 6}).call).flops, 0);
  EXPECT_EQ(cost_of(Fixture(Op::slice, {{6, 7}}, {6, 2}).call).bytes_read, 4.0 * 12);
  Fixture repeated(Op::relu, {{1, 8}}, {4, 8});
  repeated.call.inputs[0] =
      ConstTensorView(repeated.tensors[0].view().bytes(), DType::f32, {4, 8}, {0, 1});
  EXPECT_EQ(complaint(repeated.call), "");
  EXPECT_EQ(cost_of(repeated.call).bytes_read, 4.0 * 8);
}

}  // namespace
}  // namespace trilobite
