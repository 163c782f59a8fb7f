#pragma once
// The flags that `bench` and `compare` share, and the sampling plan they make.

#include <string>

#include "cli/command_line.hpp"
#include "harness/plan.hpp"

namespace trilobite::cli {

struct RunOptions {
  int64_t sample_size = 0;  // 0: the default of the plan
  int64_t rounds = 0;
  std::string warm_up_time;
  std::string measurement_time;
  std::string timeout;
  int64_t threads = 0;  // 0: all usable CPUs
  std::string isa;
  std::string seed;
  bool deterministic = false;
  bool no_isolation = false;
  bool no_limits = false;
  bool refresh_limits = false;
  std::string store;  // store_option.hpp
};

void add_run_options(CLI::App& app, RunOptions& options);

/// The value of --seed, else of BITNET_SEED, else `base`; not negative.
Result<uint64_t> seed_from(const std::string& flag, uint64_t base);

/// Flags over environment (BITNET_DETERMINISTIC, BITNET_SEED, TRILOBITE_ISA, RAYON_NUM_THREADS)
/// over `base`.
Result<SamplingPlan> plan_from(const RunOptions& options, SamplingPlan base);

}  // namespace trilobite::cli
