#include "verdict/trend.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "stats/test_data.hpp"

namespace trilobite::verdict {
namespace {

using testing::HasSubstr;

Series stepped(size_t n, size_t at, double factor, uint64_t seed) {
  stats::Engine engine(seed);
  Series series{.name = "s", .unit = "ns", .points = {}, .gaps = 0};
  for (size_t i = 0; i < n; ++i) {
    const double level = i >= at ? 100 * factor : 100;
    series.points.push_back({.index = i,
                             .value = level * std::exp(0.01 * stats::normal(engine)),
                             .time = fmt::format("day {}", i),
                             .commit = fmt::format("c{}", i)});
  }
  return series;
}

TEST(Trend, a_change_carries_the_date_and_commit_of_its_first_point) {
  const auto trend = analyse_trend(stepped(100, 60, 1.1, 1), nullptr, {});
  ASSERT_EQ(trend.changes.size(), 1u);
  EXPECT_EQ(trend.changes[0].first.commit, fmt::format("c{}", trend.changes[0].first.index));
  EXPECT_NEAR(static_cast<double>(trend.changes[0].first.index), 60, 1);
  EXPECT_EQ(trend.changes[0].cause, Cause::unknown);
}

TEST(Trend, the_control_tells_the_machine_from_the_code) {
  const auto series = stepped(100, 60, 1.1, 2);
  const auto moved = stepped(100, 60, 1.1, 3);
  const auto quiet = stepped(100, 60, 1.0, 4);
  EXPECT_EQ(analyse_trend(series, &moved, {}).changes.at(0).cause, Cause::machine);
  EXPECT_EQ(analyse_trend(series, &quiet, {}).changes.at(0).cause, Cause::code);
  const auto opposite = stepped(100, 60, 0.9, 5);
  EXPECT_EQ(analyse_trend(series, &opposite, {}).changes.at(0).cause, Cause::code);
}

TEST(Trend, a_control_without_points_there_says_nothing) {
  auto control = stepped(100, 60, 1.1, 3);
  control.points.resize(10);
  EXPECT_EQ(analyse_trend(stepped(100, 60, 1.1, 2), &control, {}).changes.at(0).cause,
            Cause::unknown);
}

TEST(Trend, too_few_points_are_said_to_be_too_few) {
  EXPECT_THAT(analyse_trend(stepped(1, 1, 1, 1), nullptr, {}).note, HasSubstr("1 point;"));
}

TEST(Trend, rows_with_gaps_before_a_change_shift_its_index_not_its_place) {
  auto series = stepped(100, 60, 1.2, 6);
  series.points.erase(series.points.begin() + 10, series.points.begin() + 20);
  series.gaps = 10;
  const auto trend = analyse_trend(series, nullptr, {});
  ASSERT_EQ(trend.changes.size(), 1u);
  EXPECT_NEAR(static_cast<double>(trend.changes[0].first.index), 60, 1);
  EXPECT_NEAR(static_cast<double>(trend.changes[0].change.index), 50, 1);
}

}  // namespace
}  // namespace trilobite::verdict
