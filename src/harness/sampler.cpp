#include "harness/sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trilobite {
namespace {

constexpr double kStableSpread = 0.05;
// Most quiet moments of a shared core last a few tenths of a millisecond (docs/adr). A longer
// sample would often be disturbed between two quiet looks.
constexpr double kQuietSampleNs = 60'000;
constexpr double kLongestQuietIterationNs = 200'000;
// Without a quiet moment for so long another CPU may be the better place.
constexpr int64_t kPatienceNs = 4'000'000;

struct Causes {
  bool steal;
  bool context_switch;
  bool major_fault;
  bool any() const { return steal || context_switch || major_fault; }
};

Causes causes_between(const NoiseReading& before, const NoiseReading& after) {
  return {.steal = after.steal_ticks > before.steal_ticks,
          .context_switch = after.involuntary_switches > before.involuntary_switches,
          .major_fault = after.major_faults > before.major_faults};
}

void count(const Causes& causes, Disturbance& disturbance) {
  disturbance.by_steal += causes.steal ? 1 : 0;
  disturbance.by_context_switch += causes.context_switch ? 1 : 0;
  disturbance.by_major_fault += causes.major_fault ? 1 : 0;
}

bool agree(const std::array<double, 3>& times) {
  const auto [low, high] = std::ranges::minmax(times);
  return low > 0 && high <= low * (1 + kStableSpread);
}

}  // namespace

uint64_t iterations_for(const SamplingPlan& plan, double ns_per_iteration) {
  const double target =
      static_cast<double>(plan.measurement.count()) / static_cast<double>(plan.samples);
  return static_cast<uint64_t>(
      std::max(1.0, std::min(1e15, target / std::max(ns_per_iteration, 1e-3))));
}

uint64_t quiet_iterations_for(double ns_per_iteration) {
  if (!(ns_per_iteration <= kLongestQuietIterationNs)) return 0;
  return static_cast<uint64_t>(std::max(1.0, kQuietSampleNs / std::max(ns_per_iteration, 1e-3)));
}

size_t samples_for(const SamplingPlan& plan, double ns_per_iteration) {
  if (plan.samples_are_exact) return plan.samples;
  const double affordable =
      4 * static_cast<double>(plan.measurement.count()) / std::max(ns_per_iteration, 1e-3);
  const auto least = std::min(plan.samples, SamplingPlan::kMinSamples);
  if (affordable >= static_cast<double>(plan.samples)) return plan.samples;
  return std::max(least, static_cast<size_t>(affordable));
}

int64_t Sampler::timed(const IterationLoop& loop, uint64_t iterations) {
  const int64_t start = clock_.now_ns();
  loop(iterations);
  return std::max<int64_t>(1, clock_.now_ns() - start);
}

WarmUp Sampler::warm_up(const IterationLoop& loop, const SamplingPlan& plan) {
  // Batches grow to a tenth of the warm-up, so that several of them can be compared.
  const int64_t batch_ns = std::max<int64_t>(1, plan.warm_up.count() / 10);
  const int64_t start = clock_.now_ns();
  uint64_t iterations = 1;
  uint64_t done = 0;
  std::array<double, 3> last{};
  while (true) {
    const int64_t elapsed = timed(loop, iterations);
    done += iterations;
    last = {last[1], last[2], static_cast<double>(elapsed) / static_cast<double>(iterations)};
    if (elapsed < batch_ns && iterations < (uint64_t{1} << 50)) iterations *= 2;
    const int64_t spent = clock_.now_ns() - start;
    const bool enough = spent >= plan.warm_up.count() && done >= plan.warm_up_iterations;
    if (enough && (agree(last) || spent >= 4 * plan.warm_up.count())) {
      return {.stable = agree(last), .ns_per_iteration = last[2]};
    }
  }
}

Samples Sampler::take(const IterationLoop& loop, uint64_t iterations, size_t count_wanted,
                      int64_t deadline_ns) {
  Samples samples;
  // As many retakes as samples: on a machine that is always disturbed, time must end all the same.
  size_t retakes_left = count_wanted;
  NoiseReading before = noise_.read();
  while (samples.ns_per_iteration.size() < count_wanted) {
    const auto elapsed = static_cast<double>(timed(loop, iterations));
    const NoiseReading after = noise_.read();
    const Causes causes = causes_between(before, after);
    before = after;
    const bool late = clock_.now_ns() >= deadline_ns;
    count(causes, samples.disturbance);
    if (causes.any() && retakes_left > 0 && !late) {
      --retakes_left;
      ++samples.disturbance.retaken;
      continue;
    }
    if (causes.any()) ++samples.disturbance.kept;
    samples.ns_per_iteration.push_back(elapsed / static_cast<double>(iterations));
    if (late && samples.ns_per_iteration.size() >= 2) break;
  }
  return samples;
}

std::vector<double> Sampler::take_quiet(const IterationLoop& loop, const QuietPlan& plan,
                                        CoreWitness& witness) {
  struct Try {
    double ns_per_iteration;
    double look_ns;  // the longer of the two around it
  };
  std::vector<Try> tries;
  size_t quiet = 0;
  int64_t last_quiet = clock_.now_ns();
  const int64_t deadline = last_quiet + plan.budget_ns;
  double before = witness.look();
  while (quiet < plan.samples && clock_.now_ns() < deadline) {
    if (clock_.now_ns() - last_quiet > kPatienceNs && witness.move_on()) {
      loop(plan.iterations);  // its data come to the new core
      before = witness.look();
      last_quiet = clock_.now_ns();
    }
    const auto elapsed = static_cast<double>(timed(loop, plan.iterations));
    const double after = witness.look();
    tries.push_back({elapsed / static_cast<double>(plan.iterations), std::max(before, after)});
    if (witness.was_quiet(tries.back().look_ns)) ++quiet, last_quiet = clock_.now_ns();
    before = after;
  }
  witness.settle();
  // Judged again: what looked quiet at first may have been the best of a disturbed time.
  std::vector<double> samples;
  for (const Try& one : tries)
    if (witness.was_quiet(one.look_ns)) samples.push_back(one.ns_per_iteration);
  return samples;
}

}  // namespace trilobite
