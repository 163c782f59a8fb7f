#include "tensor/view.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

/// 2x3x4 counting up from 0.
class View : public testing::Test {
 protected:
  Tensor tensor_ = Tensor::create({2, 3, 4}, DType::f32).value();
  void SetUp() override {
    std::iota(tensor_.view().data<float>(), tensor_.view().data<float>() + 24, 0.0f);
  }
  static std::vector<float> values(ConstTensorView view) {
    std::vector<float> result;
    for_each_offset(view, [&](int64_t offset) { result.push_back(load_as_float(view, offset)); });
    return result;
  }
};

TEST_F(View, transposing_swaps_the_order_of_elements_without_a_copy) {
  const auto matrix = tensor_.view().slice(0, 0, 1).reshape({3, 4}).value();
  const auto flipped = matrix.transpose(0, 1);
  EXPECT_EQ(flipped.shape(), (Shape{4, 3}));
  EXPECT_FALSE(flipped.is_contiguous());
  EXPECT_FALSE(flipped.has_dense_rows());
  EXPECT_EQ(values(flipped), (std::vector<float>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(flipped.bytes(), matrix.bytes());
}

TEST_F(View, a_slice_starts_inside_and_keeps_the_strides) {
  const auto part = tensor_.view().slice(1, 1, 3).slice(2, 1, 2);
  EXPECT_EQ(part.shape(), (Shape{2, 2, 1}));
  EXPECT_EQ(values(part), (std::vector<float>{5, 9, 17, 21}));
  EXPECT_EQ(tensor_.view().slice(0, 1, 1).elements(), 0);
}

TEST_F(View, reshape_is_a_view_where_the_layout_allows_it_and_refused_where_not) {
  const auto view = tensor_.view();
  EXPECT_EQ(values(view.reshape({6, 4}).value()), values(view));
  EXPECT_EQ(values(view.reshape({24}).value()), values(view));
  const auto swapped = view.transpose(1, 2);  // 2x4x3
  EXPECT_FALSE(swapped.reshape({24}).has_value());
  EXPECT_FALSE(swapped.reshape({8, 3}).has_value());
  // Splitting one dimension needs no copy even when the view is not contiguous.
  EXPECT_EQ(values(swapped.reshape({2, 2, 2, 3}).value()), values(swapped));
  const auto half = view.slice(2, 0, 2);  // rows with gaps
  EXPECT_EQ(values(half.reshape({6, 2}).value()), values(half));
  EXPECT_FALSE(half.reshape({12}).has_value());
}

TEST_F(View, reshape_with_extents_of_one_and_zero) {
  EXPECT_EQ(values(tensor_.view().reshape({1, 24, 1}).value()).size(), 24u);
  EXPECT_EQ(tensor_.view().slice(0, 0, 0).reshape({0, 7}).value().elements(), 0);
  auto scalar = Tensor::create(Shape(), DType::f32).value();
  EXPECT_EQ(scalar.view().reshape({1, 1}).value().elements(), 1);
}

}  // namespace
}  // namespace trilobite
