#include "kernels/copy.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tensor/tensor.hpp"

namespace trilobite::kernels {
namespace {

void expect_copies_in_row_major_order(const ConstTensorView& view) {
  std::vector<float> expected;
  for_each_offset(view, [&](int64_t offset) { expected.push_back(load_as_float(view, offset)); });
  for (const size_t step : {size_t{1}, size_t{7}, size_t{1000}}) {
    std::vector<float> copy(expected.size() + 1, -1.0f);
    const size_t rows = row_count(view);
    for (size_t row = 0; row < rows; row += step) {
      copy_rows(view, row, std::min(rows, row + step), copy.data());
    }
    EXPECT_EQ(copy.back(), -1.0f);
    copy.pop_back();
    EXPECT_EQ(copy, expected) << "step " << step;
  }
}

TEST(Copy, of_transposed_sliced_and_reversed_views_is_dense) {
  std::vector<float> values(3 * 70 * 45);
  std::iota(values.begin(), values.end(), 0.0f);
  const auto* data = reinterpret_cast<const std::byte*>(values.data());
  const ConstTensorView dense(data, DType::f32, Shape{3, 70, 45});
  expect_copies_in_row_major_order(dense);
  expect_copies_in_row_major_order(dense.transpose(1, 2));
  expect_copies_in_row_major_order(dense.transpose(0, 2));
  expect_copies_in_row_major_order(dense.transpose(0, 1).slice(2, 3, 40));
  expect_copies_in_row_major_order(dense.slice(1, 5, 5));
  expect_copies_in_row_major_order({data, DType::f32, Shape{4, 5}, Strides{0, 1}});
  expect_copies_in_row_major_order(
      {reinterpret_cast<const std::byte*>(values.data() + 30), DType::f32, Shape{6}, Strides{-5}});
  expect_copies_in_row_major_order({data, DType::f32, Shape{}});
}

}  // namespace
}  // namespace trilobite::kernels
