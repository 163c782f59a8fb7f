#include "stats/welch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

TEST(Welch, agrees_with_scipy_on_a_known_pair) {
  const auto test = welch(make_sample({19, 22, 16, 29, 24}), make_sample({20, 11, 17, 12})).value();
  EXPECT_NEAR(test.t, 2.2831482556870477, 1e-12);
  EXPECT_NEAR(test.degrees_of_freedom, 6.928837482846501, 1e-12);
  EXPECT_NEAR(test.p_value, 0.05675092592187574, 1e-12);
  EXPECT_NEAR(test.difference.low, -0.2649221891890896, 1e-8);
  EXPECT_NEAR(test.difference.high, 14.26492218918909, 1e-8);
}

TEST(Welch, needs_two_values_on_each_side_and_some_spread) {
  const auto short_one = welch(make_sample({1}), make_sample({1, 2}));
  ASSERT_FALSE(short_one);
  EXPECT_THAT(short_one.error().message(), testing::HasSubstr("two values"));
  const auto flat = welch(make_sample({1, 1}), make_sample({2, 2}));
  ASSERT_FALSE(flat);
  EXPECT_THAT(flat.error().message(), testing::HasSubstr("spread"));
  EXPECT_TRUE(welch(make_sample({1, 1}), make_sample({2, 3})));
}

TEST(Welch, the_interval_excludes_zero_exactly_when_p_is_below_five_per_cent) {
  Engine engine(3);
  for (int i = 0; i < 200; ++i) {
    const auto x = draw_sample(normal_population(), 5, engine);
    const auto y = draw_sample(normal_population(), 9, engine);
    const auto test = welch(x, y).value();
    EXPECT_EQ(test.difference.contains(0), test.p_value >= 0.05);
  }
}

TEST(Welch, swapping_the_samples_mirrors_the_answer) {
  const auto x = make_sample({1, 2, 4});
  const auto y = make_sample({3, 5, 9, 12});
  const auto one = welch(x, y).value();
  const auto other = welch(y, x).value();
  EXPECT_DOUBLE_EQ(one.t, -other.t);
  EXPECT_DOUBLE_EQ(one.p_value, other.p_value);
  EXPECT_DOUBLE_EQ(one.difference.low, -other.difference.high);
}

}  // namespace
}  // namespace trilobite::stats
