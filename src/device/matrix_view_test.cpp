#include "device/matrix_view.hpp"

#include <gtest/gtest.h>

#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

TEST(MatrixView, dense_rows_and_dense_columns_can_be_read_in_place) {
  const auto tensor = Tensor::create({5, 7}, DType::f32).value();
  const auto rows = matrix_layout(tensor.view().slice(1, 2, 5));
  ASSERT_TRUE(rows);
  EXPECT_FALSE(rows->transposed);
  EXPECT_EQ(rows->leading, 7);
  const auto columns = matrix_layout(tensor.view().slice(1, 2, 5).transpose(0, 1));
  ASSERT_TRUE(columns);
  EXPECT_TRUE(columns->transposed);
  EXPECT_EQ(columns->leading, 7);
}

TEST(MatrixView, strides_of_single_rows_and_columns_do_not_matter) {
  const auto tensor = Tensor::create({64}, DType::f32).value();
  const ConstTensorView row(tensor.view().bytes(), DType::f32, {1, 4}, {-9, 1});
  EXPECT_FALSE(matrix_layout(row)->transposed);
  EXPECT_EQ(matrix_layout(row)->leading, 4);
  const ConstTensorView spread_row(tensor.view().bytes(), DType::f32, {1, 4}, {1, 3});
  EXPECT_TRUE(matrix_layout(spread_row)->transposed);
  EXPECT_EQ(matrix_layout(spread_row)->leading, 3);
  const ConstTensorView column(tensor.view().bytes(), DType::f32, {4, 1}, {3, 0});
  EXPECT_FALSE(matrix_layout(column)->transposed);
  EXPECT_EQ(matrix_layout(column)->leading, 3);
}

TEST(MatrixView, gaps_in_both_directions_repeated_and_backward_rows_need_a_copy) {
  const auto tensor = Tensor::create({64}, DType::f32).value();
  for (const Strides strides : {Strides{8, 2}, Strides{0, 1}, Strides{1, 0}, Strides{-4, 1}}) {
    EXPECT_FALSE(matrix_layout({tensor.view().at(32), DType::f32, {4, 4}, strides}));
  }
}

TEST(MatrixView, matrices_of_a_stack_come_in_row_major_order) {
  const auto tensor = Tensor::create({2, 3, 4, 5}, DType::f32).value();
  EXPECT_EQ(matrix_count(tensor.view()), 6);
  EXPECT_EQ(matrix_at(tensor.view(), 4).bytes(), tensor.view().at(4 * 20));
  const auto swapped = tensor.view().transpose(0, 1);
  EXPECT_EQ(matrix_at(swapped, 1).bytes(), tensor.view().at(3 * 20));
  EXPECT_EQ(as_one_matrix(tensor.view())->shape(), (Shape{24, 5}));
  EXPECT_FALSE(as_one_matrix(swapped));
}

}  // namespace
}  // namespace trilobite
