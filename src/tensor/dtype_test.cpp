#include "tensor/dtype.hpp"

#include <gtest/gtest.h>

namespace trilobite {
namespace {

TEST(DType, names_read_back_and_long_names_are_known) {
  for (const DType dtype :
       {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i32, DType::u8}) {
    EXPECT_EQ(dtype_from_name(name_of(dtype)), dtype);
  }
  EXPECT_EQ(dtype_from_name("float16"), DType::f16);
  EXPECT_EQ(dtype_from_name("f64"), std::nullopt);
  EXPECT_EQ(size_of(DType::bf16), 2u);
}

}  // namespace
}  // namespace trilobite
