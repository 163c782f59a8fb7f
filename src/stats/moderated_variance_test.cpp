#include "stats/moderated_variance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

Variance of_normals(double sigma, int n, Engine& engine) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    const double value = sigma * normal(engine);
    sum += value;
    squares += value * value;
  }
  return {(squares - sum * sum / n) / (n - 1), static_cast<double>(n - 1)};
}

TEST(ModeratedVariance, equal_groups_share_one_variance) {
  Engine engine(1);
  std::vector<Variance> groups;
  for (int i = 0; i < 400; ++i) groups.push_back(of_normals(0.02, 5, engine));
  const auto usual = usual_variance(groups);
  EXPECT_NEAR(std::sqrt(usual.value), 0.02, 0.001);
  EXPECT_GT(usual.degrees_of_freedom, 30);
}

TEST(ModeratedVariance, groups_of_different_spread_keep_their_own) {
  Engine engine(2);
  std::vector<Variance> groups;
  for (int i = 0; i < 400; ++i)
    groups.push_back(of_normals(0.01 * std::exp(normal(engine)), 5, engine));
  const auto usual = usual_variance(groups);
  EXPECT_LT(usual.degrees_of_freedom, 3);
  EXPECT_GT(usual.degrees_of_freedom, 0.3);
  const auto wide = moderated({0.01, 4}, usual);
  EXPECT_GT(wide.value, 0.005);
  EXPECT_NEAR(wide.degrees_of_freedom, 4 + usual.degrees_of_freedom, 1e-12);
}

TEST(ModeratedVariance, two_groups_or_constant_ones_give_no_prior) {
  EXPECT_EQ(usual_variance(std::vector<Variance>{{1, 4}, {2, 4}}).degrees_of_freedom, 0);
  EXPECT_EQ(usual_variance(std::vector<Variance>(9, {0, 4})).degrees_of_freedom, 0);
  const auto own = moderated({3, 4}, {0, 0});
  EXPECT_EQ(own.value, 3);
  EXPECT_EQ(own.degrees_of_freedom, 4);
}

}  // namespace
}  // namespace trilobite::stats
