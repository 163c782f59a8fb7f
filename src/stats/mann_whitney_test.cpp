#include "stats/mann_whitney.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

// The example of scipy's documentation: ages of males and females at diagnosis.
TEST(MannWhitney, agrees_with_scipy_on_its_own_example) {
  const auto test = mann_whitney(make_sample({19, 22, 16, 29, 24}), make_sample({20, 11, 17, 12}));
  EXPECT_EQ(test.u, 17);
  EXPECT_NEAR(test.p_value, 0.1111111111111111, 1e-15);
  EXPECT_TRUE(test.exact);
}

TEST(MannWhitney, complete_separation_of_small_samples_has_the_least_exact_p) {
  // One of C(10, 5) = 252 arrangements on either side.
  const auto test = mann_whitney(make_sample({1, 2, 3, 4, 5}), make_sample({6, 7, 8, 9, 10}));
  EXPECT_EQ(test.u, 0);
  EXPECT_NEAR(test.p_value, 2.0 / 252, 1e-15);
}

TEST(MannWhitney, equal_values_everywhere_are_no_evidence) {
  const auto test = mann_whitney(make_sample({3, 3, 3}), make_sample({3, 3}));
  EXPECT_EQ(test.u, 3);
  EXPECT_EQ(test.p_value, 1);
  EXPECT_FALSE(test.exact);
  EXPECT_EQ(mann_whitney(make_sample({1}), make_sample({2})).p_value, 1);
}

TEST(MannWhitney, swapping_the_samples_mirrors_u_and_keeps_p) {
  Engine engine(1);
  for (const auto& [n, m] : {std::pair{5U, 7U}, {8U, 40U}, {20U, 30U}}) {
    const auto x = draw_sample(normal_population(), n, engine);
    const auto y = draw_sample(normal_population(), m, engine);
    const auto one = mann_whitney(x, y);
    const auto other = mann_whitney(y, x);
    EXPECT_EQ(one.u + other.u, n * m);
    EXPECT_DOUBLE_EQ(one.p_value, other.p_value);
  }
}

TEST(MannWhitney, depends_on_the_order_of_values_alone) {
  Engine engine(2);
  const auto x = draw_sample(normal_population(), 12, engine);
  const auto y = draw_sample(normal_population(), 15, engine);
  const auto stretched = [](const Sample& sample) {
    std::vector<double> values;
    for (const double value : sample.sorted()) values.push_back(std::exp(value / 10));
    return make_sample(values);
  };
  EXPECT_EQ(mann_whitney(x, y).p_value, mann_whitney(stretched(x), stretched(y)).p_value);
}

TEST(MannWhitney, exact_and_normal_p_meet_in_large_samples) {
  // 8 against 10,000 is the largest exact case, 8 against 10,001 is approximated.
  std::vector<double> many(10'000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  const auto few = make_sample({900.5, 1800.5, 2700.5, 3600.5, 4500.5, 5400.5, 6300.5, 7200.5});
  const auto exact = mann_whitney(few, make_sample(many));
  many.push_back(1e6);
  const auto normal = mann_whitney(few, make_sample(many));
  EXPECT_TRUE(exact.exact);
  EXPECT_FALSE(normal.exact);
  EXPECT_NEAR(exact.p_value, normal.p_value, 0.01);
}

TEST(MannWhitney, z_and_p_value_are_one_approximation) {
  Engine engine(3);
  std::vector<double> first(30);
  std::vector<double> second(25);
  for (auto& value : first) value = normal(engine);
  for (auto& value : second) value = 0.5 + normal(engine);
  const double z = mann_whitney_z(first, second);
  EXPECT_NEAR(mann_whitney(make_sample(first), make_sample(second)).p_value, 2 * normal_survival(z),
              1e-12);
  EXPECT_EQ(z, mann_whitney_z(second, first));
}

TEST(MannWhitney, z_of_equal_or_few_values_is_zero) {
  EXPECT_EQ(mann_whitney_z(std::vector<double>{2, 2}, std::vector<double>{2, 2, 2}), 0);
  EXPECT_EQ(mann_whitney_z(std::vector<double>{1}, std::vector<double>{2}), 0);
}

}  // namespace
}  // namespace trilobite::stats
