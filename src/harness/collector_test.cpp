#include "harness/collector.hpp"

#include <gtest/gtest.h>

namespace trilobite {
namespace {

class CollectorTest : public testing::Test {
 protected:
  BenchmarkDefinition definition_{"suite", "op", [] { return std::vector<Case>{Case()}; },
                                  [](Bench&) {}};
  std::vector<SelectedBenchmark> selection_{{&definition_, Case(), "suite/op/-/-/-"}};
  SamplingPlan plan_{.samples = 4, .rounds = 2};
  Collector collector_{selection_, plan_, nullptr};

  static StepResult step(size_t round, std::vector<double> samples) {
    StepResult result{.round = round, .planned_samples = 4};
    result.partial.iterations_per_sample = 10;
    result.partial.samples_ns = std::move(samples);
    result.partial.work.elements = 5;
    result.partial.figures = {{"ratio", 4}};
    result.partial.kernels = {{"k", 3}};
    result.partial.disturbance.retaken = 1;
    return result;
  }
};

TEST_F(CollectorTest, rounds_add_up_to_one_result_with_statistics) {
  collector_.add(step(0, {1, 2}));
  EXPECT_FALSE(collector_.is_finished(0));
  EXPECT_EQ(collector_.calibration(0)->iterations_per_sample, 10u);
  collector_.add(step(1, {3, 4}));
  EXPECT_TRUE(collector_.is_finished(0));
  const auto result = collector_.result(0);
  EXPECT_EQ(result.samples_ns, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(result.samples_per_round, (std::vector<uint64_t>{2, 2}));
  EXPECT_DOUBLE_EQ(result.statistics->median, 2.5);
  EXPECT_DOUBLE_EQ(result.throughput.elements, 2e9);
  EXPECT_EQ(result.kernels.at("k"), 6u);
  EXPECT_EQ(result.figures.at("ratio"), 4);
  EXPECT_EQ(result.disturbance.retaken, 2u);
}

StepResult quiet_step(StepResult step, double witness_ns, std::vector<double> samples) {
  const uint64_t count = samples.size();
  step.partial.quiet = QuietTime{
      .witness_ns = witness_ns, .samples_ns = std::move(samples), .samples_per_round = {count}};
  return step;
}

TEST_F(CollectorTest, quiet_rounds_are_those_whose_witness_was_quiet) {
  plan_.rounds = 6;
  collector_.add(quiet_step(step(0, {9}), 1001, {5, 9, 4, 6}));
  collector_.add(quiet_step(step(1, {9}), 1800, {9, 9, 9}));  // somebody was there all the time
  collector_.add(quiet_step(step(2, {9}), 1000, {4, 4}));     // too few
  collector_.add(step(3, {9}));
  collector_.add(quiet_step(step(4, {9}), 1000, {7, 7, 7}));
  EXPECT_FALSE(collector_.result(0).quiet) << "two rounds are too few";
  collector_.add(quiet_step(step(5, {9}), 1003, {6, 6, 6, 6}));
  const auto quiet = collector_.result(0).quiet;
  ASSERT_TRUE(quiet);
  EXPECT_EQ(quiet->best_ns, 5);  // of 5, 7 and 6
  EXPECT_EQ(quiet->witness_ns, 1000);
  EXPECT_EQ(quiet->samples_ns, (std::vector<double>{5, 9, 4, 6, 7, 7, 7, 6, 6, 6, 6}));
  EXPECT_EQ(quiet->samples_per_round, (std::vector<uint64_t>{4, 3, 4}));
}

TEST_F(CollectorTest, what_was_measured_before_a_crash_stays) {
  collector_.add(step(0, {1, 2}));
  collector_.end_early(0, Status::failed, "its process was killed");
  EXPECT_FALSE(collector_.wants({0, 1}));
  const auto result = collector_.result(0);
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_EQ(result.samples_ns.size(), 2u);
}

TEST_F(CollectorTest, benchmarks_that_were_never_visited_are_not_in_the_results) {
  EXPECT_TRUE(collector_.results().empty());
  EXPECT_TRUE(collector_.wants({0, 0}));
  EXPECT_FALSE(collector_.wants({0, 1}));
}

TEST_F(CollectorTest, doubtful_results_carry_a_warning) {
  auto unstable = step(0, {1, 1});
  unstable.warm_up_was_stable = false;
  unstable.partial.disturbance.kept = 2;
  collector_.add(unstable);
  const auto warnings = collector_.warnings();
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].code, "disturbed");
  EXPECT_EQ(warnings[1].code, "unstable-warm-up");
  EXPECT_EQ(warnings[1].benchmark, "suite/op/-/-/-");
}

TEST_F(CollectorTest, rounds_that_disagree_are_a_warning) {
  collector_.add(step(0, {100, 101}));
  collector_.add(step(1, {104, 105}));
  EXPECT_TRUE(collector_.warnings().empty());
  Collector apart(selection_, plan_, nullptr);
  apart.add(step(0, {100, 101}));
  apart.add(step(1, {120, 121}));
  ASSERT_EQ(apart.warnings().size(), 1u);
  EXPECT_EQ(apart.warnings()[0].code, "rounds-disagree");
}

TEST_F(CollectorTest, what_is_much_faster_than_the_limit_is_a_warning) {
  MachineLimits limits;
  limits.by_threads.push_back(
      {.threads = plan_.threads, .bandwidth = {{.level = "memory", .read = 1e9}}});
  const auto warnings_of = [&](double bytes) {
    Collector collector(selection_, plan_, &limits);
    auto fast = step(0, {100, 101});
    fast.partial.work.bytes_read = bytes;
    collector.add(fast);
    return collector.warnings();
  };
  EXPECT_TRUE(warnings_of(120).empty());
  ASSERT_EQ(warnings_of(200).size(), 1u);
  EXPECT_EQ(warnings_of(200)[0].code, "above-limit");
}

}  // namespace
}  // namespace trilobite
