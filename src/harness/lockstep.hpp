#pragma once
// Two builds in lock-step: two processes of the base and two of the candidate are resident side by
// side and take turns of a fraction of a millisecond, so that whatever the machine does hits all
// four alike. A round gives each one turn, in random order; the next round has the order backwards,
// which cancels drift. The difference between the builds is the answer, the difference between
// two processes of the same build is the control.
//
// A unit is the midmean over the rounds of one placement: where the pages of a program lie is
// chance, and can make it a percent faster or slower for as long as it keeps them. So every unit
// closes the benchmark and opens it anew (our own programs do that in a new process, see
// step_server.hpp), and every few units the programs themselves are replaced. If nothing changed,
// base and candidate of a unit can be swapped, so its difference is as likely to be positive as
// negative: that is all that the verdict relies on.

#include <algorithm>
#include <array>
#include <vector>

#include "base/rng.hpp"
#include "harness/step_client.hpp"

namespace trilobite {

struct LockstepPlan {
  std::vector<std::string> base;       // program and arguments
  std::vector<std::string> candidate;  // the same
  StepBenchmark benchmark;
  std::chrono::nanoseconds step = std::chrono::microseconds(50);
  std::chrono::nanoseconds unit = std::chrono::milliseconds(6);
  std::chrono::nanoseconds longest_unit = unit;                 // of a benchmark that opens slowly
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);  // of one answer
  uint64_t seed = 42;                                           // of the order of turns
};

/// Logarithms of ratios: 0.01 is 1 % slower than the base.
struct PairedUnit {
  double candidate = 0;
  double control = 0;        // each build against itself
  double other_control = 0;  // the same, with the candidates the other way round
  double candidate_cpu = 0;  // by CPU time; 0 when the program does not tell it
  size_t rounds = 0;
  size_t generation = 0;  // of the programs, from 1
};

class Lockstep {
 public:
  explicit Lockstep(LockstepPlan plan);
  ~Lockstep();
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  /// Opens the benchmark in all programs, in new ones when it is time to, and measures one unit.
  Result<PairedUnit> next_unit();
  /// For programs that keep a speed of their own from start to end: more units of one start would
  /// say nothing new.
  void replace_programs_for_every_unit() { one_unit_of_each_ = true; }
  /// All programs said that a process of its own serves every opening.
  bool opens_fresh() const { return std::ranges::all_of(programs_, &StepClient::opens_fresh); }
  uint64_t iterations_per_step() const { return iterations_; }

 private:
  static constexpr size_t kPrograms = 4;  // base, candidate, base, candidate
  using Round = std::array<StepTime, kPrograms>;
  using Order = std::array<size_t, kPrograms>;
  using Nanoseconds = std::chrono::nanoseconds;

  bool time_for_new_programs() const;
  Result<void> replace_programs();
  Result<void> open_anew();
  Result<void> calibrate();
  Result<Round> round(const Order& order);
  Order random_order();
  Nanoseconds time_of_unit(Nanoseconds opening) const;
  void pin_to_one_cpu();
  void unpin();

  LockstepPlan plan_;
  Rng rng_;
  std::vector<StepClient> programs_;  // kPrograms, or none before the first unit
  std::vector<int> cpus_;             // that this process may use
  int priority_;                      // that this process had
  bool is_open_ = false;
  size_t generation_ = 0;
  size_t units_of_generation_ = 0;
  bool one_unit_of_each_ = false;
  Nanoseconds start_took_{0};
  Nanoseconds used_{0};  // by this generation since it started
  uint64_t iterations_ = 0;
};

}  // namespace trilobite
