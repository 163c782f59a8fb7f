#include "harness/lockstep.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace trilobite {
namespace {

constexpr size_t kFewestBlocks = 4;
constexpr size_t kFewestUnits = 2;  // of one placement
constexpr uint64_t kMostIterations = uint64_t{1} << 40;

std::vector<int> usable_cpu_numbers() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

void allow_cpus(std::span<const int> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  (void)::sched_setaffinity(0, sizeof set, &set);  // without it the result is noisier, not wrong
}

double log_ratio(double first, double second) {
  return first > 0 && second > 0 ? std::log(first / second) : 0;
}

}  // namespace

double midmean(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t cut = values.size() / 4;
  const auto begin = values.begin() + static_cast<ptrdiff_t>(cut);
  const auto end = values.end() - static_cast<ptrdiff_t>(cut);
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

Lockstep::Lockstep(LockstepPlan plan)
    : plan_(std::move(plan)), rng_(plan_.seed), cpus_(usable_cpu_numbers()) {}

Lockstep::~Lockstep() { unpin(); }

/// One thread takes turns best on one CPU, together with whoever hands the turn over: no core has
/// to wake up. Each generation of processes uses another one.
void Lockstep::pin_to_one_cpu() {
  if (plan_.benchmark.threads != 1 || cpus_.empty()) return;
  allow_cpus(std::span(&cpus_[generation_ % cpus_.size()], 1));
}

void Lockstep::unpin() {
  if (!cpus_.empty()) allow_cpus(cpus_);
}

bool Lockstep::time_for_new_processes() const {
  if (programs_.empty()) return true;
  return units_of_generation_ >= kFewestUnits && 2 * measured_ >= 3 * start_took_;
}

Result<void> Lockstep::replace_processes() {
  const auto begin = std::chrono::steady_clock::now();
  programs_.clear();
  pin_to_one_cpu();
  // The control is started before or after the base by chance, so that age does not tell them
  // apart.
  const std::array<const char*, kPrograms> names{"base", "candidate", "base (control)"};
  std::array<size_t, kPrograms> order{0, 1, 2};
  shuffle(order, rng_);
  std::array<std::optional<StepClient>, kPrograms> started;
  for (const size_t i : order) {
    auto program =
        StepClient::start(names[i], i == 1 ? plan_.candidate : plan_.base, plan_.timeout);
    if (!program) return fail_from(program);
    started[i].emplace(*std::move(program));
  }
  for (auto& program : started) programs_.push_back(*std::move(program));
  for (const size_t i : order) {
    if (auto opened = programs_[i].open(plan_.benchmark); !opened) return opened;
  }
  ++generation_;
  units_of_generation_ = 0;
  measured_ = {};
  start_took_ = std::chrono::steady_clock::now() - begin;
  return {};
}

Result<void> Lockstep::calibrate() {
  if (iterations_ != 0) return {};
  iterations_ = 1;
  for (;;) {
    const auto time = programs_[0].step(iterations_);
    if (!time) return fail_from(time);
    if (time->wall_ns >= static_cast<double>(plan_.step.count()) || iterations_ > kMostIterations)
      return {};
    // Half-way there the rest is extrapolated; below, one sample says too little.
    const double missing = static_cast<double>(plan_.step.count()) / std::max(1.0, time->wall_ns);
    iterations_ =
        missing > 2
            ? iterations_ * 2
            : static_cast<uint64_t>(std::ceil(static_cast<double>(iterations_) * missing * 1.05));
  }
}

Result<std::array<Lockstep::Turn, 2>> Lockstep::block() {
  std::array<size_t, kPrograms> order{0, 1, 2};
  shuffle(order, rng_);
  std::array<Turn, 2> turns{};
  for (size_t half = 0; half < 2; ++half) {
    for (const size_t i : order) {
      auto time = programs_[i].step(iterations_);
      if (!time) return fail_from(time);
      turns[half][i] = *time;
    }
    std::ranges::reverse(order);
  }
  return turns;
}

Result<PairedUnit> Lockstep::next_unit() {
  if (time_for_new_processes()) {
    if (auto replaced = replace_processes(); !replaced) return fail_from(replaced);
    if (auto calibrated = calibrate(); !calibrated) return fail_from(calibrated);
    if (auto warm = block(); !warm) return fail_from(warm);
  }
  std::vector<double> candidate;
  std::vector<double> control;
  std::vector<double> cpu;
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + plan_.unit;
  while (candidate.size() < kFewestBlocks || std::chrono::steady_clock::now() < end) {
    const auto turns = block();
    if (!turns) return fail_from(turns);
    const auto mean_ratio = [&](size_t program, double StepTime::* time) {
      return (log_ratio((*turns)[0][program].*time, (*turns)[0][0].*time) +
              log_ratio((*turns)[1][program].*time, (*turns)[1][0].*time)) /
             2;
    };
    candidate.push_back(mean_ratio(1, &StepTime::wall_ns));
    control.push_back(mean_ratio(2, &StepTime::wall_ns));
    cpu.push_back(mean_ratio(1, &StepTime::cpu_ns));
  }
  const size_t blocks = candidate.size();
  ++units_of_generation_;
  measured_ += std::chrono::steady_clock::now() - begin;
  return PairedUnit{midmean(std::move(candidate)), midmean(std::move(control)),
                    midmean(std::move(cpu)), blocks, generation_};
}

}  // namespace trilobite
