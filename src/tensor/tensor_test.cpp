#include "tensor/tensor.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trilobite {
namespace {

TEST(Tensor, more_memory_than_the_machine_has_is_an_error_that_names_the_tensor) {
  const auto tensor = Tensor::create({1 << 20, 1 << 20, 16}, DType::f32);
  ASSERT_FALSE(tensor);
  EXPECT_NE(tensor.error().message().find("1048576x1048576x16 tensor of f32"), std::string::npos);
}

TEST(Tensor, an_empty_tensor_has_no_elements) {
  const auto tensor = Tensor::create({0, 5}, DType::f16).value();
  EXPECT_EQ(tensor.size_bytes(), 0u);
  EXPECT_TRUE(tensor.view().is_contiguous());
}

TEST(Tensor, every_type_stores_and_loads_with_its_own_rounding) {
  const auto round_trip = [](DType dtype, float value) {
    auto tensor = Tensor::create({1}, dtype).value();
    store_from_float(tensor.view(), 0, value);
    return load_as_float(tensor.view(), 0);
  };
  EXPECT_EQ(round_trip(DType::f32, 0.1f), 0.1f);
  EXPECT_EQ(round_trip(DType::f16, 0.1f), Float16::from(0.1f).to_float());
  EXPECT_EQ(round_trip(DType::bf16, 0.1f), BFloat16::from(0.1f).to_float());
  EXPECT_EQ(round_trip(DType::i8, 200.0f), 127.0f);
  EXPECT_EQ(round_trip(DType::i8, -2.5f), -2.0f);
  EXPECT_EQ(round_trip(DType::u8, -3.0f), 0.0f);
  EXPECT_EQ(round_trip(DType::i32, std::nanf("")), 0.0f);
}

}  // namespace
}  // namespace trilobite
