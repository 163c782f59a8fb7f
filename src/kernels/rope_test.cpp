#include "kernels/rope.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace trilobite::kernels {
namespace {

TEST(Rope, turns_neighbours_or_halves_and_leaves_the_rest) {
  const std::vector<float> cosines{0.0f, 0.6f};
  const std::vector<float> sines{1.0f, 0.8f};
  std::vector<float> x{1, 2, 3, 4, 5, 10, 20, 30, 40, 50};  // two heads of five
  RopeCall call{.pairs = RopePairs::neighbours,
                .cosines = cosines,
                .sines = sines,
                .x = x.data(),
                .heads = 2,
                .head_size = 5};
  rope(call);
  EXPECT_FLOAT_EQ(x[0], -2);  // (1, 2) by a quarter turn
  EXPECT_FLOAT_EQ(x[1], 1);
  EXPECT_FLOAT_EQ(x[2], 3 * 0.6f - 4 * 0.8f);
  EXPECT_FLOAT_EQ(x[3], 3 * 0.8f + 4 * 0.6f);
  EXPECT_EQ(x[4], 5);
  EXPECT_FLOAT_EQ(x[5], -20);
  EXPECT_EQ(x[9], 50);

  x = {1, 2, 3, 4, 5, 10, 20, 30, 40, 50};
  call.pairs = RopePairs::halves;
  rope(call);
  EXPECT_FLOAT_EQ(x[0], -3);  // (1, 3) by a quarter turn
  EXPECT_FLOAT_EQ(x[2], 1);
  EXPECT_FLOAT_EQ(x[1], 2 * 0.6f - 4 * 0.8f);
  EXPECT_FLOAT_EQ(x[3], 2 * 0.8f + 4 * 0.6f);
  EXPECT_EQ(x[4], 5);
}

}  // namespace
}  // namespace trilobite::kernels
