#include "stats/sequential_symmetry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "stats/test_data.hpp"

namespace trilobite::stats {
namespace {

constexpr double kAlpha = 0.05;

/// How often the e-value ever reaches 1/alpha in 60 looks.
double share_fired(const std::function<double(Engine&, size_t)>& draw) {
  Engine engine(21);
  constexpr int kRuns = 2000;
  int fired = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> values;
    bool crossed = false;
    while (values.size() < 60 && !crossed) {
      values.push_back(draw(engine, values.size()));
      crossed = e_value(values) >= 1 / kAlpha;
    }
    fired += crossed;
  }
  return fired / double{kRuns};
}

double cauchy(Engine& engine) { return normal(engine) / normal(engine); }

TEST(SequentialSymmetry, looking_after_every_value_stays_within_alpha) {
  const double share = share_fired([](Engine& engine, size_t) { return 3 * normal(engine); });
  EXPECT_LE(share, kAlpha);
  EXPECT_GT(share, kAlpha / 10);  // valid, not useless
}

TEST(SequentialSymmetry, heavy_tails_and_changing_width_do_not_matter) {
  EXPECT_LE(share_fired([](Engine& engine, size_t) { return cauchy(engine); }), kAlpha);
  EXPECT_LE(share_fired([](Engine& engine, size_t i) {
              return normal(engine) * (i % 20 < 10 ? 1 : 30);  // quiet and busy times
            }),
            kAlpha);
  // Most differences tiny, some of a percent: what unlucky pages do.
  EXPECT_LE(share_fired([](Engine& engine, size_t) {
              return normal(engine) * (uniform(engine) < 0.1 ? 20 : 1);
            }),
            kAlpha);
}

/// Values needed on the average until the e-value is 100.
double values_needed(const std::function<double(Engine&)>& draw) {
  Engine engine(22);
  size_t needed = 0;
  constexpr size_t kRuns = 200;
  for (size_t run = 0; run < kRuns; ++run) {
    std::vector<double> values;
    do {
      values.push_back(draw(engine));
    } while (e_value(values) < 100);
    needed += values.size();
  }
  return static_cast<double>(needed) / kRuns;
}

TEST(SequentialSymmetry, a_real_shift_is_soon_seen_in_spite_of_outliers) {
  EXPECT_LT(values_needed([](Engine& engine) { return 1 + 0.3 * normal(engine); }), 13);
  EXPECT_LT(values_needed([](Engine& engine) { return 1 + normal(engine); }), 28);
  EXPECT_LT(values_needed([](Engine& engine) { return 1 + 0.2 * cauchy(engine); }), 20);
}

TEST(SequentialSymmetry, the_sequence_is_where_the_e_value_reaches_its_limit) {
  Engine engine(23);
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) values.push_back(1 + 0.1 * normal(engine));
  const auto interval = confidence_sequence(values, 0.01);
  EXPECT_NEAR(e_value(values, interval.low), 100, 5);
  EXPECT_NEAR(e_value(values, interval.high), 100, 5);
  EXPECT_TRUE(interval.contains(1));
  EXPECT_LT(interval.high - interval.low, 0.25);
}

TEST(SequentialSymmetry, the_sequence_holds_the_centre) {
  Engine engine(24);
  int missed = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> values;
    for (int i = 0; i < 30; ++i) values.push_back(5 + cauchy(engine));
    missed += !confidence_sequence(values, kAlpha).contains(5);
  }
  EXPECT_LE(missed, kRuns * kAlpha);
}

TEST(SequentialSymmetry, few_or_constant_values_are_defined) {
  EXPECT_EQ(e_value({}), 1);
  EXPECT_NEAR(e_value(std::vector<double>{5}), 1, 1e-12);
  EXPECT_NEAR(e_value(std::vector<double>{0, 0, 0}), 1, 1e-12);
  EXPECT_GT(e_value(std::vector<double>(12, 0.02)), 100);
  EXPECT_TRUE(std::isinf(confidence_sequence(std::vector<double>{1, 2}, 0.01).high));
  const auto constant = confidence_sequence(std::vector<double>(20, 3.0), 0.01);
  EXPECT_NEAR(constant.low, 3, 1e-6);
  EXPECT_NEAR(constant.high, 3, 1e-6);
}

}  // namespace
}  // namespace trilobite::stats
