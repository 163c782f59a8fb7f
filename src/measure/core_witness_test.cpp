#include "measure/core_witness.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace trilobite {
namespace {

class ScriptedWitness final : public CoreWitness {
 public:
  explicit ScriptedWitness(std::deque<double> times) : times_(std::move(times)) {}
  bool move_on() override { return false; }
  void settle() override {}

 private:
  double work_ns() override {
    const double next = times_.front();
    times_.pop_front();
    return next;
  }
  std::deque<double> times_;
};

TEST(CoreWitness, what_is_quiet_is_known_from_the_shortest_look) {
  ScriptedWitness witness({1000, 500, 504, 900});
  EXPECT_TRUE(witness.was_quiet(witness.look()));  // nothing better is known yet
  EXPECT_TRUE(witness.was_quiet(witness.look()));
  EXPECT_FALSE(witness.was_quiet(1000));
  EXPECT_TRUE(witness.was_quiet(witness.look()));
  EXPECT_FALSE(witness.was_quiet(witness.look()));
  EXPECT_EQ(witness.shortest_ns(), 500);
}

TEST(CoreWitness, what_others_saw_counts) {
  ScriptedWitness witness({1000, 600});
  witness.learn(500);
  EXPECT_FALSE(witness.was_quiet(witness.look()));
  witness.learn(0);
  witness.learn(700);
  EXPECT_EQ(witness.shortest_ns(), 500);
}

TEST(LoopWitness, goes_round_the_cpus_and_lets_go_of_them_again) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  SteadyClock clock;
  LoopWitness witness(clock);
  const int before = ::sched_getcpu();
  const bool moved = witness.move_on();
  EXPECT_EQ(moved, CPU_COUNT(&allowed) > 1);
  if (moved) {
    EXPECT_NE(::sched_getcpu(), before);
    EXPECT_TRUE(CPU_ISSET(static_cast<size_t>(::sched_getcpu()), &allowed));
  }
  witness.settle();
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&allowed, &after));
}

TEST(LoopWitness, does_some_work_that_takes_time) {
  SteadyClock clock;
  LoopWitness witness(clock);
  double shortest = witness.look();
  for (int i = 0; i < 20; ++i) shortest = std::min(shortest, witness.look());
  EXPECT_EQ(witness.shortest_ns(), shortest);
  // Eight chains of 8,000 additions: no core does them in less than a thousand nanoseconds.
  EXPECT_GT(shortest, 1000);
}

}  // namespace
}  // namespace trilobite
