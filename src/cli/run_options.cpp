#include "cli/run_options.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "base/duration.hpp"
#include "base/parse_number.hpp"
#include "base/thread_pool.hpp"
#include "cli/store_option.hpp"

namespace trilobite::cli {
namespace {

constexpr int64_t kMaxThreads = 4096;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<void> apply_duration(const std::string& text, std::chrono::nanoseconds& target) {
  if (text.empty()) return {};
  const auto parsed = parse_duration(text);
  if (!parsed) return fail_from(parsed);
  target = *parsed;
  return {};
}

Result<unsigned> threads_from(int64_t flag, bool deterministic) {
  if (flag > 0) return static_cast<unsigned>(flag);
  const auto variable = environment("RAYON_NUM_THREADS");
  if (!variable.empty()) {
    const auto threads = parse_int(variable);
    if (!threads || *threads < 1 || *threads > kMaxThreads) {
      return fail(
          fmt::format("RAYON_NUM_THREADS: '{}' is not between 1 and {}", variable, kMaxThreads));
    }
    return static_cast<unsigned>(*threads);
  }
  return deterministic ? 1 : usable_cpus();
}

}  // namespace

Result<uint64_t> seed_from(const std::string& flag, uint64_t base) {
  const auto text = flag.empty() ? environment("BITNET_SEED") : flag;
  if (text.empty()) return base;
  const auto seed = parse_int(text);
  if (!seed || *seed < 0) {
    return fail(fmt::format("{}: '{}' is not a whole number from 0 up",
                            flag.empty() ? "BITNET_SEED" : "--seed", text));
  }
  return static_cast<uint64_t>(*seed);
}

void add_run_options(CLI::App& app, RunOptions& options) {
  app.add_option("--sample-size", options.sample_size,
                 "samples per benchmark, exactly (default: 30, fewer for slow ones)")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--rounds", options.rounds,
                 "interleaved rounds the samples are spread over (default: 5)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--warm-up-time", options.warm_up_time,
                 "at least this long, until stable (default: 50ms)")
      ->check(duration_value());
  app.add_option("--measurement-time", options.measurement_time,
                 "time of all samples of a benchmark (default: 150ms)")
      ->check(duration_value());
  app.add_option("--timeout", options.timeout,
                 "a benchmark that takes longer is ended (default: 60s)")
      ->check(duration_value());
  app.add_option("--threads", options.threads, "threads of each device (default: all usable CPUs)")
      ->check(CLI::Range(int64_t{1}, kMaxThreads));
  app.add_option("--isa", options.isa,
                 "narrow the instruction set: scalar, ssse3, sse4, avx2, avx2_vnni, avx3, avx3_dl");
  app.add_option("--seed", options.seed,
                 "seed of inputs and order (default: BITNET_SEED, else 42)");
  app.add_flag("--deterministic", options.deterministic,
               "fixed seed, one thread unless --threads says otherwise, fixed reduction order "
               "(also BITNET_DETERMINISTIC=1)");
  app.add_flag("--no-isolation", options.no_isolation,
               "measure in this process, for debuggers and profilers");
  app.add_flag("--no-limits", options.no_limits, "do not compare with the limits of the machine");
  app.add_flag("--refresh-limits", options.refresh_limits,
               "measure the limits of the machine again first");
  add_store_option(app, options.store);
}

Result<SamplingPlan> plan_from(const RunOptions& options, SamplingPlan base) {
  SamplingPlan plan = std::move(base);
  if (options.sample_size > 0) {
    plan.samples = static_cast<size_t>(options.sample_size);
    plan.samples_are_exact = true;
  }
  if (options.rounds > 0) plan.rounds = static_cast<size_t>(options.rounds);
  plan.rounds = std::min(plan.rounds, plan.samples);
  if (auto set = apply_duration(options.warm_up_time, plan.warm_up); !set)
    return fail_from(set, "--warm-up-time");
  if (auto set = apply_duration(options.measurement_time, plan.measurement); !set) {
    return fail_from(set, "--measurement-time");
  }
  if (auto set = apply_duration(options.timeout, plan.timeout); !set)
    return fail_from(set, "--timeout");
  const auto variable = environment("BITNET_DETERMINISTIC");
  plan.deterministic = options.deterministic || (!variable.empty() && variable != "0");
  plan.isa = options.isa.empty() ? environment("TRILOBITE_ISA") : options.isa;
  const auto seed = seed_from(options.seed, plan.seed);
  if (!seed) return fail_from(seed);
  plan.seed = *seed;
  const auto threads = threads_from(options.threads, plan.deterministic);
  if (!threads) return fail_from(threads);
  plan.threads = *threads;
  return plan;
}

}  // namespace trilobite::cli
