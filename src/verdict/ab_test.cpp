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
};

Values drawn(size_t units, double change, double control, uint64_t seed, double noise = 0.002) {
  stats::Engine engine(seed);
  Values values;
  for (size_t i = 0; i < units; ++i) {
    values.candidate.push_back(std::log1p(change) + noise * stats::normal(engine));
    values.control.push_back(std::log1p(control) + noise * stats::normal(engine));
  }
  return values;
}

AbVerdict judged(const Values& values, const AbSettings& settings = {}) {
  return judge_ab({values.candidate, values.control, values.candidate, values.candidate.size() / 3},
                  settings);
}

TEST(Ab, clear_changes_are_called_by_their_direction) {
  EXPECT_EQ(judged(drawn(16, 0.02, 0, 1)).answer, Answer::regressed);
  EXPECT_EQ(judged(drawn(16, -0.02, 0, 2)).answer, Answer::improved);
  const auto verdict = judged(drawn(16, 0.02, 0, 1));
  EXPECT_TRUE(verdict.interval.contains(0.02));
  EXPECT_TRUE(is_decided(verdict, {}));
}

TEST(Ab, no_change_is_equivalent_when_the_interval_is_narrow_and_undecided_when_not) {
  EXPECT_EQ(judged(drawn(20, 0, 0, 3)).answer, Answer::equivalent);
  EXPECT_EQ(judged(drawn(20, 0, 0, 4, 0.03)).answer, Answer::undecided);
  EXPECT_EQ(judged(drawn(3, 0.2, 0, 5)).answer, Answer::undecided);
}

TEST(Ab, a_control_that_fires_withholds_the_verdict) {
  const auto verdict = judged(drawn(20, 0.02, 0.02, 6));
  EXPECT_TRUE(verdict.control_fired);
  EXPECT_EQ(verdict.answer, Answer::undecided);
  EXPECT_THAT(verdict.note, HasSubstr("withheld"));
}

TEST(Ab, a_claim_needs_the_programs_to_have_been_started_twice) {
  const auto values = drawn(20, 0.02, 0, 7);
  const AbUnits once{values.candidate, values.control, values.candidate, 1};
  EXPECT_EQ(judge_ab(once, {}).answer, Answer::undecided);
  EXPECT_THAT(judge_ab(once, {}).note, HasSubstr("started once more"));
}

TEST(Ab, unchanged_benchmarks_are_hardly_ever_called_although_one_looks_all_the_time) {
  int called = 0;
  constexpr int kTrials = 1000;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    const auto values = drawn(30, 0, 0, 1000 + trial, 0.01);
    for (size_t n = 6; n <= 30; ++n) {
      const auto verdict =
          judge_ab({std::span(values.candidate).first(n), std::span(values.control).first(n),
                    std::span(values.candidate).first(n), n / 3},
                   {});
      if (verdict.answer == Answer::regressed || verdict.answer == Answer::improved) {
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
  const auto first = judged(drawn(16, 0.02, 0, 1));
  EXPECT_TRUE(confirmed_by(first, judged(drawn(16, 0.02, 0, 2))).confirmed);
  const auto open = confirmed_by(first, judged(drawn(16, 0, 0, 3)));
  EXPECT_EQ(open.answer, Answer::undecided);
  EXPECT_THAT(open.note, HasSubstr("not confirmed"));
}

}  // namespace
}  // namespace trilobite::verdict
