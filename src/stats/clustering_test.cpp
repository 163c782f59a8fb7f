#include "stats/clustering.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

using testing::ElementsAre;

struct Drawn {
  std::vector<double> first, second;
  std::vector<size_t> groups;
  double effect() const { return design_effect({{first, second}, groups}); }
};

Drawn drawn(double common, double shift, uint64_t seed) {
  Engine engine(seed);
  Drawn values;
  for (size_t group = 0; group < 40; ++group) {
    const double speeds[] = {shift + common * normal(engine), common * normal(engine)};
    for (size_t i = 0; i < 10; ++i) {
      values.first.push_back(speeds[0] + normal(engine));
      values.second.push_back(speeds[1] + normal(engine));
      values.groups.push_back(group);
    }
  }
  return values;
}

TEST(Clustering, values_with_nothing_in_common_have_an_effect_of_about_1) {
  double sum = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) sum += drawn(0, 0, seed).effect() / 50;
  EXPECT_NEAR(sum, 1, 0.05);
}

TEST(Clustering, what_groups_have_in_common_is_seen_whatever_all_of_them_share) {
  EXPECT_GT(drawn(1, 0, 1).effect(), 4);
  EXPECT_GT(drawn(1, 5, 2).effect(), 4);
  EXPECT_NEAR(drawn(0, 5, 3).effect(), 1, 0.5);  // a change is no cluster
}

TEST(Clustering, equal_values_within_groups_are_clusters_without_limit) {
  const std::vector<double> values{1, 1, -1, -1, 2, 2};
  const std::vector<size_t> groups{1, 1, 2, 2, 3, 3};
  EXPECT_TRUE(std::isinf(design_effect({{values}, groups})));
}

TEST(Clustering, groups_of_one_tell_nothing) {
  const std::vector<double> values{1, -3, 2};
  EXPECT_EQ(design_effect({{values}, std::vector<size_t>{1, 2, 3}}), 1);
  EXPECT_EQ(design_effect({{}, {}}), 1);
}

TEST(Clustering, an_outlier_makes_no_cluster) {
  auto values = drawn(0, 0, 4);
  values.first[17] = 1e6;
  EXPECT_NEAR(values.effect(), 1, 0.5);
}

TEST(Clustering, midmeans_of_groups) {
  const std::vector<double> values{1, 3, 10, 5};
  EXPECT_THAT(group_midmeans(values, std::vector<size_t>{4, 4, 7, 9}), ElementsAre(2, 10, 5));
}

}  // namespace
}  // namespace trilobite::stats
