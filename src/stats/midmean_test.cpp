#include "stats/midmean.hpp"

#include <gtest/gtest.h>

namespace trilobite::stats {
namespace {

TEST(Midmean, is_the_mean_of_the_middle_half) {
  EXPECT_DOUBLE_EQ(midmean({5}), 5);
  EXPECT_DOUBLE_EQ(midmean({1, 2, 3}), 2);
  EXPECT_DOUBLE_EQ(midmean({-1000, 4, 6, 1000}), 5);
  EXPECT_DOUBLE_EQ(midmean({1e9, 1, 2, 3, 4, 5, 6, -1e9}), 3.5);
}

}  // namespace
}  // namespace trilobite::stats
