#include "gguf/tensor_type.hpp"

#include <gtest/gtest.h>

namespace trilobite::gguf {
namespace {

TEST(TensorType, names_are_found_in_either_case) {
  EXPECT_EQ(parse_type("q6_k"), TensorType::q6_k);
  EXPECT_EQ(parse_type("TQ2_0"), TensorType::tq2_0);
  EXPECT_FALSE(parse_type("q9_9"));
}

TEST(TensorType, bytes_include_what_lies_beside_the_blocks) {
  EXPECT_EQ(tensor_bytes(facts_of(TensorType::q4_0), 3, 64), 3U * 2 * 18);
  EXPECT_EQ(tensor_bytes(facts_of(TensorType::i2_s), 2, 128), 2U * 32 + 32);
  EXPECT_EQ(tensor_bytes(facts_of(TensorType::iq2_bn), 2, 64), 2U * (16 + 4));
}

TEST(TensorType, overflow_and_broken_blocks_are_errors) {
  EXPECT_FALSE(tensor_bytes(facts_of(TensorType::f32), size_t{1} << 62, 4));
  EXPECT_FALSE(tensor_bytes(facts_of(TensorType::q6_k), 1, 128));
}

TEST(TensorType, a_known_number_need_not_be_computable) {
  ASSERT_NE(find_type(13), nullptr);
  EXPECT_EQ(find_type(13)->name, "Q5_K");
  EXPECT_EQ(find_type(4), nullptr);
}

}  // namespace
}  // namespace trilobite::gguf
