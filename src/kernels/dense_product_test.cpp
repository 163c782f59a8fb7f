#include "kernels/dense_product.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

class DenseProductOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(DenseProductOnEveryIsa);

struct Size {
  size_t rows, columns, tokens;
};

void expect_right(DType dtype, const Size& size) {
  const auto weights = TypedArray::normal(dtype, size.rows * size.columns, 41);
  std::vector<float> x(size.tokens * size.columns);
  for (size_t i = 0; i < x.size(); ++i) x[i] = normal_at(42, 0, i);
  const size_t stride = size.rows + 2;
  std::vector<float> out(size.tokens * stride, -1.0f);
  const DenseCall call{.dtype = dtype,
                       .weights = weights.data(),
                       .rows = size.rows,
                       .columns = size.columns,
                       .x = x.data(),
                       .tokens = size.tokens,
                       .out = out.data(),
                       .out_stride = stride};
  dense_product(call, 0, size.rows / 3);
  dense_product(call, size.rows / 3, size.rows);
  for (size_t t = 0; t < size.tokens; ++t) {
    for (size_t r = 0; r < size.rows; ++r) {
      double exact = 0;
      double magnitude = 0;
      for (size_t c = 0; c < size.columns; ++c) {
        const double term =
            weights[r * size.columns + c] * static_cast<double>(x[t * size.columns + c]);
        exact += term;
        magnitude += std::abs(term);
      }
      const double bound = (static_cast<double>(size.columns) + 8) * 0x1p-24 * magnitude;
      ASSERT_NEAR(static_cast<double>(out[t * stride + r]), exact, bound)
          << name_of(dtype) << " " << size.rows << "x" << size.columns << ", token " << t;
    }
    ASSERT_EQ(out[t * stride + size.rows], -1.0f) << "wrote beyond the last row";
  }
}

TEST_P(DenseProductOnEveryIsa, agrees_with_the_definition) {
  for (const DType dtype : kFloatTypes) {
    for (const Size& size : {Size{1, 1, 1}, Size{2, 7, 2}, Size{3, 8, 3}, Size{5, 33, 4},
                             Size{4, 64, 5}, Size{7, 100, 7}, Size{9, 1001, 6}, Size{3, 0, 2}}) {
      expect_right(dtype, size);
    }
  }
}

}  // namespace
}  // namespace trilobite::kernels
