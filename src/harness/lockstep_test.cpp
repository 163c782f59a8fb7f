#include "harness/lockstep.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <cmath>
#include <numeric>

namespace trilobite {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

/// A program whose iterations "take" `nanoseconds` each: no clock, so that the answer is exact.
std::vector<std::string> program(int nanoseconds) {
  return {"/bin/sh", "-c",
          fmt::format("while read verb n rest; do case $verb in step) echo ok $((n * {0})) $((n * "
                      "{0}));; *) echo ok;; esac; done",
                      nanoseconds)};
}

LockstepPlan plan(int base, int candidate) {
  return {.base = program(base),
          .candidate = program(candidate),
          .benchmark = {.id = "x"},
          .step = 10us,
          .unit = 1ms};
}

TEST(Lockstep, ratios_are_those_of_the_programs) {
  Lockstep lockstep(plan(1000, 1250));
  for (int i = 0; i < 3; ++i) {
    const auto unit = lockstep.next_unit();
    ASSERT_TRUE(unit) << unit.error().message();
    EXPECT_NEAR(unit->candidate, std::log(1.25), 1e-12);
    EXPECT_NEAR(unit->candidate_cpu, std::log(1.25), 1e-12);
    EXPECT_EQ(unit->control, 0);
    EXPECT_GE(unit->rounds, 8u);
  }
  EXPECT_GE(lockstep.iterations_per_step(), 10u);
}

TEST(Lockstep, what_opens_slowly_is_measured_longer_where_the_plan_allows_it) {
  auto slow = plan(1000, 1000);
  slow.base = slow.candidate = {"/bin/sh", "-c",
                                "while read verb n rest; do case $verb in open) sleep 0.1;; esac; "
                                "echo ok $((n * 1000)) $((n * 1000)); done"};
  slow.longest_unit = 1s;
  Lockstep lockstep(std::move(slow));
  const auto begin = std::chrono::steady_clock::now();
  const auto unit = lockstep.next_unit();
  ASSERT_TRUE(unit) << unit.error().message();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 250ms);  // half as long again as the opening
}

TEST(Lockstep, programs_are_replaced) {
  Lockstep lockstep(plan(100'000, 100'000));
  size_t generation = 0;
  for (int i = 0; i < 1000 && generation < 2; ++i) {
    const auto unit = lockstep.next_unit();
    ASSERT_TRUE(unit) << unit.error().message();
    generation = unit->generation;
  }
  EXPECT_EQ(generation, 2u);
}

TEST(Lockstep, a_program_that_ends_is_named) {
  auto broken = plan(1000, 1000);
  broken.candidate = {"/bin/sh", "-c", "read a; echo ok; read a; echo ok; read a; exit 5"};
  ::signal(SIGPIPE, SIG_IGN);
  Lockstep lockstep(std::move(broken));
  EXPECT_THAT(lockstep.next_unit().error().message(), HasSubstr("candidate exited with status 5"));
}

TEST(Lockstep, a_benchmark_that_cannot_be_opened_is_an_error) {
  auto broken = plan(1000, 1000);
  broken.base = {"/bin/sh", "-c", "read a; echo ok; read a; echo error no device; read a"};
  Lockstep lockstep(std::move(broken));
  EXPECT_THAT(lockstep.next_unit().error().message(), HasSubstr("no device"));
}

}  // namespace
}  // namespace trilobite
