#include "verdict/ab.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "stats/test_data.hpp"

namespace trilobite::verdict {
namespace {

using testing::HasSubstr;

struct Values {
  std::vector<double> candidate;
  std::vector<double> control;
  std::vector<double> other_control;
  std::vector<size_t> generation;

  AbUnits first(size_t n) const {
    const auto part = [n](const auto& all) { return std::span(all).first(n); };
    return {part(candidate), part(control), part(other_control), part(candidate), part(generation)};
  }
  AbUnits all() const { return first(candidate.size()); }
};

struct Drawing {
  size_t units;
  double change = 0;
  double control = 0;
  double noise = 0.002;
  double speeds = 0;  // what programs differ by from start to start
  size_t units_of_generation = 3;
};

Values drawn(const Drawing& what, uint64_t seed) {
  stats::Engine engine(seed);
  Values values;
  double speed[3] = {};
  for (size_t i = 0; i < what.units; ++i) {
    if (i % what.units_of_generation == 0)
      for (double& one : speed) one = what.speeds * stats::normal(engine);
    const auto noise = [&] { return what.noise * stats::normal(engine); };
    values.candidate.push_back(std::log1p(what.change) + speed[0] + noise());
    values.control.push_back(std::log1p(what.control) + speed[1] + noise());
    values.other_control.push_back(speed[2] + noise());
    values.generation.push_back(1 + i / what.units_of_generation);
  }
  return values;
}

AbVerdict judged(const Values& values, const AbSettings& settings = {}) {
  return judge_ab(values.all(), settings);
}

bool is_claim(const AbVerdict& verdict) {
  return verdict.answer == Answer::regressed || verdict.answer == Answer::improved;
}

TEST(Ab, clear_changes_are_called_by_their_direction) {
  EXPECT_EQ(judged(drawn({.units = 16, .change = 0.02}, 1)).answer, Answer::regressed);
  EXPECT_EQ(judged(drawn({.units = 16, .change = -0.02}, 2)).answer, Answer::improved);
  const auto verdict = judged(drawn({.units = 16, .change = 0.02}, 1));
  EXPECT_TRUE(verdict.interval.contains(0.02));
  EXPECT_TRUE(is_decided(verdict, {}));
}

TEST(Ab, no_change_is_equivalent_when_the_interval_is_narrow_and_undecided_when_not) {
  EXPECT_EQ(judged(drawn({.units = 20}, 3)).answer, Answer::equivalent);
  EXPECT_EQ(judged(drawn({.units = 20, .noise = 0.03}, 4)).answer, Answer::undecided);
  EXPECT_EQ(judged(drawn({.units = 3, .change = 0.2}, 5)).answer, Answer::undecided);
}

TEST(Ab, a_control_that_fires_withholds_the_verdict) {
  const auto verdict = judged(drawn({.units = 20, .change = 0.02, .control = 0.02}, 6));
  EXPECT_TRUE(verdict.control_fired);
  EXPECT_EQ(verdict.answer, Answer::undecided);
  EXPECT_THAT(verdict.note, HasSubstr("withheld"));
}

TEST(Ab, an_answer_needs_several_starts_of_the_programs) {
  const auto claim = judged(drawn({.units = 20, .change = 0.02, .units_of_generation = 7}, 7));
  EXPECT_EQ(claim.answer, Answer::undecided);
  EXPECT_THAT(claim.note, HasSubstr("started 3 of 4 times"));
  EXPECT_EQ(judged(drawn({.units = 20, .units_of_generation = 7}, 7)).answer, Answer::undecided);
}

TEST(Ab, fresh_openings_need_two_starts_and_a_clear_sign_to_be_judged_by_them) {
  const auto changed = drawn({.units = 20, .change = 0.02, .units_of_generation = 10}, 7);
  auto values = changed.all();
  EXPECT_EQ(judge_ab(values, {}).answer, Answer::undecided);
  values.fresh = true;
  EXPECT_EQ(judge_ab(values, {}).answer, Answer::regressed);
  const auto clustered = drawn({.units = 60, .speeds = 0.02, .units_of_generation = 10}, 8);
  auto units = clustered.all();
  units.fresh = true;
  EXPECT_TRUE(judge_ab(units, {}).by_generation);
}

TEST(Ab, programs_with_a_speed_of_their_own_count_once_for_each_start) {
  const Drawing unchanged{.units = 60, .speeds = 0.02, .units_of_generation = 10};
  const auto verdict = judged(drawn(unchanged, 8));
  EXPECT_TRUE(verdict.by_generation);
  EXPECT_GT(verdict.design_effect, 10);
  EXPECT_FALSE(is_claim(verdict));
  Drawing changed = unchanged;
  changed.units = 200;
  changed.change = 0.1;
  EXPECT_EQ(judged(drawn(changed, 9)).answer, Answer::regressed);
}

/// Of 200 unchanged benchmarks, how many are ever called changed while one looks again and again.
int called_of_200(Drawing what) {
  int called = 0;
  for (uint64_t trial = 0; trial < 200; ++trial) {
    const auto values = drawn(what, 5000 + trial);
    for (size_t n = 6; n <= what.units; n += 3) {
      if (!is_claim(judge_ab(values.first(n), {}))) continue;
      ++called;
      break;
    }
  }
  return called;
}

TEST(Ab, speeds_that_differ_from_start_to_start_are_hardly_ever_called_a_change) {
  for (const double speeds : {0.0, 0.005, 0.02})
    EXPECT_LE(called_of_200({.units = 60, .speeds = speeds, .units_of_generation = 10}), 4)
        << speeds;
}

TEST(Ab, unchanged_benchmarks_are_hardly_ever_called_although_one_looks_all_the_time) {
  int called = 0;
  constexpr int kTrials = 1000;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    const auto values = drawn({.units = 30, .noise = 0.01}, 1000 + trial);
    for (size_t n = 6; n <= 30; ++n) {
      if (is_claim(judge_ab(values.first(n), {}))) {
        ++called;
        break;
      }
    }
  }
  EXPECT_LE(called, kTrials / 100);
}

TEST(Ab, a_suite_keeps_only_what_it_supports_as_a_whole) {
  std::vector<AbVerdict> verdicts(50);
  verdicts[3].answer = Answer::regressed;
  verdicts[3].e_value = 150;  // enough alone, not among fifty
  control_false_discoveries(verdicts, {});
  EXPECT_EQ(verdicts[3].answer, Answer::undecided);
  verdicts[3].answer = verdicts[4].answer = Answer::regressed;
  verdicts[3].e_value = 2000;
  verdicts[4].e_value = 600;
  control_false_discoveries(verdicts, {});
  EXPECT_EQ(verdicts[3].answer, Answer::regressed);
  EXPECT_EQ(verdicts[4].answer, Answer::regressed);  // 50 / (0.05 * 2) = 500
}

TEST(Ab, a_claim_that_is_not_repeated_does_not_stand) {
  const auto first = judged(drawn({.units = 16, .change = 0.02}, 1));
  EXPECT_TRUE(confirmed_by(first, judged(drawn({.units = 16, .change = 0.02}, 2))).confirmed);
  const auto open = confirmed_by(first, judged(drawn({.units = 16}, 3)));
  EXPECT_EQ(open.answer, Answer::undecided);
  EXPECT_THAT(open.note, HasSubstr("not confirmed"));
}

}  // namespace
}  // namespace trilobite::verdict
