#pragma once
// Two programs in lock-step: base, candidate and a second base (the control) are resident side by
// side and take turns of a fraction of a millisecond, so that whatever the machine does hits all
// three alike. A block is one random order of the three and the same order backwards, which cancels
// drift; a unit is the trimmed mean of some tens of blocks.
//
// Processes are replaced every few units: where the pages of a program lie is chance, and can make
// it a percent faster or slower for as long as it lives. Each such placement is measured half as
// long again as it took to start, so that programs that start slowly still leave time to measure.

#include <array>
#include <optional>
#include <vector>

#include "base/rng.hpp"
#include "harness/step_client.hpp"

namespace trilobite {

struct LockstepPlan {
  std::vector<std::string> base;       // program and arguments
  std::vector<std::string> candidate;  // the same
  StepBenchmark benchmark;
  std::chrono::nanoseconds step = std::chrono::microseconds(100);
  std::chrono::nanoseconds unit = std::chrono::milliseconds(30);
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);  // of one answer
  uint64_t seed = 42;                                           // of the order of turns
};

/// Logarithms of ratios: 0.01 is 1 % slower than the base.
struct PairedUnit {
  double candidate = 0;
  double control = 0;        // the base against itself
  double candidate_cpu = 0;  // by CPU time; 0 when the program does not tell it
  size_t blocks = 0;
  size_t placement = 0;  // generation of the processes, from 1
};

class Lockstep {
 public:
  explicit Lockstep(LockstepPlan plan);
  ~Lockstep();
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  /// Starts processes when it is time to, then measures one unit.
  Result<PairedUnit> next_unit();
  uint64_t iterations_per_step() const { return iterations_; }

 private:
  static constexpr size_t kPrograms = 3;  // base, candidate, control
  using Turn = std::array<StepTime, kPrograms>;

  bool time_for_new_processes() const;
  Result<void> replace_processes();
  Result<void> calibrate();
  Result<std::array<Turn, 2>> block();
  void pin_to_one_cpu();
  void unpin();

  LockstepPlan plan_;
  Rng rng_;
  std::vector<StepClient> programs_;  // kPrograms, or none before the first unit
  std::vector<int> cpus_;             // that this process may use
  size_t generation_ = 0;
  size_t units_of_generation_ = 0;
  std::chrono::nanoseconds start_took_{0};
  std::chrono::nanoseconds measured_{0};  // by this generation
  uint64_t iterations_ = 0;
};

/// The mean of the middle half: nearly as sharp as the mean on quiet machines, and blind to the
/// tenth of blocks in which somebody else had the CPU. `values` is not empty.
double midmean(std::vector<double> values);

}  // namespace trilobite
