#include "harness/sampler.hpp"

#include <gtest/gtest.h>

#include "harness/fakes_for_test.hpp"

namespace trilobite {
namespace {

using std::chrono::milliseconds;

class SamplerTest : public testing::Test {
 protected:
  FakeClock clock_;
  FakeNoise noise_;
  Sampler sampler_{clock_, noise_};
  static constexpr int64_t kNever = INT64_MAX;
};

TEST_F(SamplerTest, warm_up_lasts_as_long_as_asked_and_ends_when_stable) {
  uint64_t done = 0;
  const auto warm = sampler_.warm_up(
      [&](uint64_t n) { done += n, clock_.advance(static_cast<int64_t>(n) * 1000); },
      {.warm_up = milliseconds(50)});
  EXPECT_TRUE(warm.stable);
  EXPECT_DOUBLE_EQ(warm.ns_per_iteration, 1000);
  EXPECT_GE(done, 50'000u);
  EXPECT_LT(done, 65'000u);
}

TEST_F(SamplerTest, a_time_that_keeps_falling_is_followed_until_it_settles) {
  // 10 us per iteration at first, 1 us after 60 ms: a clock that ramps up.
  const int64_t start = clock_.now_ns();
  const auto warm = sampler_.warm_up(
      [&](uint64_t n) {
        const bool slow = clock_.now_ns() - start < 60'000'000;
        clock_.advance(static_cast<int64_t>(n) *
                       (slow ? 10'000 - (clock_.now_ns() - start) / 10'000 : 1000));
      },
      {.warm_up = milliseconds(50)});
  EXPECT_TRUE(warm.stable);
  EXPECT_DOUBLE_EQ(warm.ns_per_iteration, 1000);
}

TEST_F(SamplerTest, a_benchmark_that_never_settles_is_reported_and_not_waited_for) {
  int64_t step = 1000;
  const int64_t start = clock_.now_ns();
  const auto warm = sampler_.warm_up(
      [&](uint64_t n) {
        step = step == 1000 ? 2000 : 1000;
        clock_.advance(static_cast<int64_t>(n) * step);
      },
      {.warm_up = milliseconds(50)});
  EXPECT_FALSE(warm.stable);
  EXPECT_LE(clock_.now_ns() - start, 250'000'000);
}

TEST_F(SamplerTest, warm_up_does_at_least_the_iterations_that_were_asked_for) {
  uint64_t done = 0;
  sampler_.warm_up(
      [&](uint64_t n) { done += n, clock_.advance(static_cast<int64_t>(n) * 1'000'000'000); },
      {.warm_up = milliseconds(1), .warm_up_iterations = 5});
  EXPECT_GE(done, 5u);
}

TEST_F(SamplerTest, samples_are_times_per_iteration) {
  const auto samples = sampler_.take(
      [&](uint64_t n) { clock_.advance(static_cast<int64_t>(n) * 7); }, 100, 5, kNever);
  EXPECT_EQ(samples.ns_per_iteration, (std::vector<double>{7, 7, 7, 7, 7}));
  EXPECT_EQ(samples.disturbance.retaken, 0u);
}

TEST_F(SamplerTest, disturbed_samples_are_retaken_and_counted_by_cause) {
  int call = 0;
  const auto samples = sampler_.take(
      [&](uint64_t) {
        ++call;
        if (call == 1) ++noise_.reading.steal_ticks;
        if (call == 2) ++noise_.reading.involuntary_switches;
        if (call == 3) ++noise_.reading.major_faults;
        clock_.advance(call <= 3 ? 900 : 100);
      },
      1, 4, kNever);
  EXPECT_EQ(samples.ns_per_iteration, (std::vector<double>{100, 100, 100, 100}));
  EXPECT_EQ(samples.disturbance.by_steal, 1u);
  EXPECT_EQ(samples.disturbance.by_context_switch, 1u);
  EXPECT_EQ(samples.disturbance.by_major_fault, 1u);
  EXPECT_EQ(samples.disturbance.retaken, 3u);
  EXPECT_EQ(samples.disturbance.kept, 0u);
}

TEST_F(SamplerTest, a_machine_that_is_always_disturbed_gives_its_samples_all_the_same_and_says_so) {
  const auto samples = sampler_.take(
      [&](uint64_t) { ++noise_.reading.steal_ticks, clock_.advance(100); }, 1, 4, kNever);
  EXPECT_EQ(samples.ns_per_iteration.size(), 4u);
  EXPECT_EQ(samples.disturbance.retaken, 4u);
  EXPECT_EQ(samples.disturbance.kept, 4u);
}

TEST_F(SamplerTest, the_deadline_ends_the_taking_after_two_samples) {
  const auto samples = sampler_.take([&](uint64_t) { clock_.advance(1'000'000'000); }, 1, 30,
                                     clock_.now_ns() + 500'000'000);
  EXPECT_EQ(samples.ns_per_iteration.size(), 2u);
}

TEST(IterationsFor, fill_a_sample_and_are_at_least_one) {
  const SamplingPlan plan{.samples = 30, .measurement = milliseconds(300)};
  EXPECT_EQ(iterations_for(plan, 1000), 10'000u);
  EXPECT_EQ(iterations_for(plan, 1e12), 1u);
  EXPECT_GT(iterations_for(plan, 0), 1'000'000u);
}

TEST(SamplesFor, slow_benchmarks_take_fewer_unless_the_number_is_exact) {
  SamplingPlan plan{.samples = 30, .measurement = milliseconds(100)};
  EXPECT_EQ(samples_for(plan, 1e6), 30u);
  EXPECT_EQ(samples_for(plan, 20e6), 20u);
  EXPECT_EQ(samples_for(plan, 1e9), SamplingPlan::kMinSamples);
  plan.samples_are_exact = true;
  EXPECT_EQ(samples_for(plan, 1e9), 30u);
  plan = {.samples = 3, .measurement = milliseconds(100)};
  EXPECT_EQ(samples_for(plan, 1e9), 3u);
}

TEST_F(SamplerTest, only_samples_between_two_quiet_looks_are_kept) {
  FakeWitness witness;
  int sample = 0;
  // Somebody comes in the middle of the third sample and leaves in that of the fifth.
  const auto samples = sampler_.take_quiet(
      [&](uint64_t n) {
        ++sample;
        witness.next_ns = sample == 3 || sample == 4 ? 1900 : 1000;
        clock_.advance(static_cast<int64_t>(n) * (sample >= 3 && sample <= 5 ? 150 : 100));
      },
      {.iterations = 10, .samples = 4, .budget_ns = 1'000'000}, witness);
  EXPECT_EQ(samples, (std::vector<double>{100, 100, 100, 100}));
  EXPECT_EQ(sample, 7);
}

TEST_F(SamplerTest, what_seemed_quiet_before_a_better_moment_came_is_dropped) {
  FakeWitness witness;
  witness.next_ns = 1900;
  int sample = 0;
  const auto samples = sampler_.take_quiet(
      [&](uint64_t n) {
        witness.next_ns = ++sample < 3 ? 1900 : 1000;
        clock_.advance(static_cast<int64_t>(n) * (sample <= 3 ? 170 : 100));
      },
      {.iterations = 1, .samples = 5, .budget_ns = 1'000'000}, witness);
  EXPECT_EQ(samples, (std::vector<double>{100, 100, 100}));
}

TEST_F(SamplerTest, quiet_moments_are_not_waited_for_beyond_the_budget) {
  FakeWitness witness;
  witness.look();
  witness.next_ns = 2000;
  const auto samples =
      sampler_.take_quiet([&](uint64_t) { clock_.advance(60'000); },
                          {.iterations = 1, .samples = 10, .budget_ns = 10'000'000}, witness);
  EXPECT_TRUE(samples.empty());
  EXPECT_LE(clock_.now_ns(), 1'000'000 + 10'120'000);
  EXPECT_EQ(witness.moves, 2);  // after four milliseconds each
  EXPECT_EQ(witness.settled, 1);
}

TEST(QuietIterations, fill_a_short_sample_or_are_none) {
  EXPECT_EQ(quiet_iterations_for(1000), 60u);
  EXPECT_EQ(quiet_iterations_for(100'000), 1u);
  EXPECT_EQ(quiet_iterations_for(300'000), 0u);
  EXPECT_EQ(quiet_iterations_for(0), 60'000'000u);
}

}  // namespace
}  // namespace trilobite
