#include "stats/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace trilobite::stats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Sample, sorts_its_values) {
  const auto sample = Sample::from({3, -1, 2}).value();
  EXPECT_THAT(sample.sorted(), ElementsAre(-1, 2, 3));
  EXPECT_EQ(sample.min(), -1);
  EXPECT_EQ(sample.max(), 3);
  EXPECT_EQ(sample.size(), 3);
}

TEST(Sample, one_value_is_enough_and_none_is_an_error) {
  EXPECT_TRUE(Sample::from({7}));
  const auto empty = Sample::from({});
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message(), HasSubstr("at least one value"));
}

TEST(Sample, names_the_position_of_a_value_that_is_not_a_number) {
  const auto sample = Sample::from({1, kNan, 3});
  ASSERT_FALSE(sample);
  EXPECT_THAT(sample.error().message(), HasSubstr("value 2 of 3"));
}

TEST(Sample, refuses_infinite_and_absurdly_large_values) {
  for (const double bad : {kInfinity, -kInfinity, 1e101, -1e101}) {
    const auto sample = Sample::from({1, bad});
    ASSERT_FALSE(sample) << bad;
    EXPECT_THAT(sample.error().message(), HasSubstr("finite"));
  }
}

TEST(Sample, knows_when_all_values_are_equal) {
  EXPECT_TRUE(Sample::from({2, 2, 2})->is_constant());
  EXPECT_TRUE(Sample::from({2})->is_constant());
  EXPECT_FALSE(Sample::from({2, 2, 3})->is_constant());
}

}  // namespace
}  // namespace trilobite::stats
