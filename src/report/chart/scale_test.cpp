#include "report/chart/scale.hpp"

#include <gmock/gmock.h>

namespace trilobite::chart {
namespace {

using testing::ElementsAre;
using testing::Ge;
using testing::Le;

TEST(Scale, round_values_span_what_must_fit) {
  EXPECT_THAT(round_values({0, 97}, 5, false), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(round_values({0, 3000}, 3, true), ElementsAre(0, 1024, 2048, 3072));
  EXPECT_THAT(round_values({-0.3, 0.2}, 5, false).front(), Le(-0.3));
}

TEST(Scale, logarithmic_values_are_powers_and_their_simple_multiples) {
  EXPECT_THAT(round_log_values({3, 4000}, 6, false), ElementsAre(1, 10, 100, 1000, 10000));
  const auto fine = round_log_values({1, 100}, 12, false);
  ASSERT_EQ(fine.size(), 7u);
  EXPECT_DOUBLE_EQ(fine[1], 2);
  EXPECT_DOUBLE_EQ(fine[2], 5);
  EXPECT_LE(round_log_values({1e-3, 1e15}, 5, false).size(), 7u);
}

TEST(Scale, a_single_value_and_no_range_still_have_a_length) {
  for (const double value : {0.0, 5.0, -3.0, 1e-9, 1e300}) {
    for (const bool logarithmic : {false, true}) {
      const Scale scale({.values = {value, value}, .range = {0, 100}, .logarithmic = logarithmic});
      const double place = scale.place(value);
      EXPECT_GE(place, 0) << value;
      EXPECT_LE(place, 100) << value;
      EXPECT_GE(scale.ticks().size(), 2u) << value;
    }
  }
}

TEST(Scale, places_keep_the_order_and_stay_inside) {
  for (const bool logarithmic : {false, true}) {
    const Scale scale({.values = {2, 8e6}, .range = {10, 500}, .logarithmic = logarithmic});
    double before = 0;
    for (const double value : {2.0, 3.0, 50.0, 1e4, 8e6}) {
      EXPECT_GT(scale.place(value), before);
      before = scale.place(value);
    }
    EXPECT_LE(before, 500);
    EXPECT_GE(scale.place(2), 10);
  }
}

TEST(Scale, what_is_not_above_zero_is_not_drawn_logarithmically) {
  EXPECT_FALSE(Scale({.values = {0, 1}, .range = {0, 1}, .logarithmic = true}).logarithmic());
}

}  // namespace
}  // namespace trilobite::chart
