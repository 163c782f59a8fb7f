#include "kernels/gemm.hpp"

#include <cmath>
#include <limits>

#include "kernels/kernel_test_inputs.hpp"

namespace trilobite::kernels {
namespace {

class GemmOnEveryIsa : public EveryIsa {
 protected:
  CpuInfo cpu_ = read_cpu_info();
};
TRILOBITE_FOR_EVERY_ISA(GemmOnEveryIsa);

struct Size {
  size_t m, n, k;
};

struct Types {
  Types(DType all) : a(all), b(all), out(all) {}  // NOLINT(google-explicit-constructor): mostly one
  Types(DType a_type, DType b_type, DType out_type) : a(a_type), b(b_type), out(out_type) {}
  DType a, b, out;
};

/// One product with operands that lie as asked.
struct Product {
  Product(Types all, Size s, bool transpose_a, bool transpose_b)
      : size(s),
        types(all),
        a(TypedArray::normal(all.a, s.m * s.k, 21)),
        b(TypedArray::normal(all.b, s.k * s.n, 22)),
        a_row(transpose_a ? 1 : s.k),
        a_column(transpose_a ? s.m : 1),
        b_row(transpose_b ? 1 : s.n),
        b_column(transpose_b ? s.k : 1) {}

  TypedArray compute(Gemm& gemm) const {
    TypedArray out(types.out, size.m * size.n);
    const auto stride = [](size_t s) { return static_cast<ptrdiff_t>(s); };
    const GemmCall call{.a_dtype = types.a,
                        .b_dtype = types.b,
                        .out_dtype = types.out,
                        .m = size.m,
                        .n = size.n,
                        .k = size.k,
                        .a = {a.data(), stride(a_row), stride(a_column)},
                        .b = {b.data(), stride(b_row), stride(b_column)},
                        .out = out.data()};
    EXPECT_TRUE(gemm.run(call));
    return out;
  }

  void expect_close(const TypedArray& out) const {
    for (size_t row = 0; row < size.m; ++row) {
      for (size_t column = 0; column < size.n; ++column) {
        double exact = 0;
        double magnitude = 0;
        for (size_t k = 0; k < size.k; ++k) {
          const double term = a[row * a_row + k * a_column] * b[k * b_row + column * b_column];
          exact += term;
          magnitude += std::abs(term);
        }
        const double bound = static_cast<double>(size.k + 2) * 0x1p-24 * magnitude +
                             1.01 * std::abs(exact) * unit_roundoff(types.out) + 0x1p-25;
        ASSERT_NEAR(out[row * size.n + column], exact, bound)
            << name_of(types.out) << " " << size.m << "x" << size.n << "x" << size.k << " at "
            << row << "," << column;
      }
    }
  }

  Size size;
  Types types;
  TypedArray a, b;
  size_t a_row, a_column, b_row, b_column;
};

TEST_P(GemmOnEveryIsa, types_may_be_mixed) {
  ThreadPool pool(2);
  Gemm gemm(pool, cpu_);
  for (const DType weights : {DType::f32, DType::f16, DType::bf16}) {
    for (const Size size : {Size{1, 40, 33}, Size{19, 1, 33}, Size{19, 65, 70}}) {
      const Product product({DType::f32, weights, DType::f32}, size, false, true);
      product.expect_close(product.compute(gemm));
    }
  }
}

TEST_P(GemmOnEveryIsa, awkward_sizes_agree_with_the_definition) {
  ThreadPool pool(1);
  Gemm gemm(pool, cpu_);
  for (const size_t m : std::initializer_list<size_t>{0, 1, 5, 6, 7, 13, 17, 65}) {
    for (const size_t n : std::initializer_list<size_t>{0, 1, 5, 15, 16, 17, 33, 65}) {
      for (const size_t k : std::initializer_list<size_t>{0, 1, 7, 63, 64, 65}) {
        const Product product(DType::f32, {m, n, k}, false, false);
        product.expect_close(product.compute(gemm));
      }
    }
  }
}

TEST_P(GemmOnEveryIsa, every_type_and_layout_agrees_with_the_definition) {
  ThreadPool pool(2);
  Gemm gemm(pool, cpu_);
  for (const auto dtype : kFloatTypes) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        for (const Size size : {Size{1, 70, 65}, {70, 1, 65}, {29, 70, 67}, {100, 33, 130}}) {
          const Product product(dtype, size, transpose_a, transpose_b);
          product.expect_close(product.compute(gemm));
        }
      }
    }
  }
}

TEST_P(GemmOnEveryIsa, sums_over_several_depth_blocks_are_rounded_once) {
  ThreadPool pool(2);
  Gemm gemm(pool, cpu_);
  for (const auto dtype : kFloatTypes) {
    for (const size_t k : std::initializer_list<size_t>{255, 256, 257, 513, 1025, 4097}) {
      const Product product(dtype, {9, 35, k}, false, false);
      product.expect_close(product.compute(gemm));
    }
  }
}

TEST_P(GemmOnEveryIsa, blocks_of_small_caches_agree_with_the_definition) {
  CpuInfo tiny;
  tiny.caches = {{1, "Data", 2048, 1}, {2, "Unified", 4096, 1}, {3, "Unified", 8192, 2}};
  ThreadPool pool(2);
  Gemm gemm(pool, tiny);
  const Product product(DType::f32, {75, 131, 90}, false, true);
  product.expect_close(product.compute(gemm));
}

TEST_P(GemmOnEveryIsa, few_rows_by_many_columns_agree_with_the_definition_for_any_threads) {
  CpuInfo usual;
  usual.caches = {
      {1, "Data", 32 << 10, 1}, {2, "Unified", 256 << 10, 1}, {3, "Unified", 4 << 20, 2}};
  ThreadPool one(1);
  Gemm alone(one, usual);
  for (const DType weights : {DType::f32, DType::f16, DType::bf16}) {
    for (const Size size : {Size{2, 1100, 300}, {13, 1025, 257}, {40, 1100, 520}}) {
      const Product product({DType::f32, weights, DType::f32}, size, false, true);
      const auto expected = product.compute(alone);
      product.expect_close(expected);
      for (const unsigned threads : {2u, 3u}) {
        ThreadPool pool(threads);
        Gemm gemm(pool, usual);
        const auto out = product.compute(gemm);
        for (size_t i = 0; i < size.m * size.n; ++i) ASSERT_EQ(out[i], expected[i]) << i;
      }
    }
  }
}

TEST_P(GemmOnEveryIsa, bits_do_not_depend_on_the_number_of_threads) {
  ThreadPool one(1);
  Gemm on_one(one, cpu_);
  for (const Size size : {Size{200, 300, 260}, {7, 1000, 400}, {1, 3000, 300}, {3000, 1, 300}}) {
    for (const bool transpose_b : {false, true}) {
      const Product product(DType::f32, size, false, transpose_b);
      const auto expected = product.compute(on_one);
      for (const unsigned threads : {2u, 3u}) {
        ThreadPool pool(threads);
        Gemm gemm(pool, cpu_);
        EXPECT_TRUE(product.compute(gemm).same_bits(expected)) << threads << " threads";
      }
    }
  }
}

TEST_P(GemmOnEveryIsa, nan_reaches_exactly_its_row) {
  ThreadPool pool(1);
  Gemm gemm(pool, cpu_);
  Product product(DType::f32, {9, 20, 30}, false, false);
  product.a.set(4 * 30 + 17, std::numeric_limits<float>::quiet_NaN());
  const auto out = product.compute(gemm);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(std::isnan(out[i]), i / 20 == 4) << i;
}

}  // namespace
}  // namespace trilobite::kernels
