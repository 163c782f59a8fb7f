#include "harness/lockstep.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "stats/midmean.hpp"

namespace trilobite {
namespace {

using std::chrono::steady_clock;

constexpr int kPriority = -15;
constexpr size_t kFewestRounds = 8;
constexpr size_t kFewestUnits = 2;  // of one generation
// Programs are used so many times as long as they took to start, but not longer than this: a start
// that something delayed would make them stay. Units of one start share the addresses of code: with
// ten times and a quarter of a second equal programs were called different in 4 of 256 trials.
constexpr int kShareOfStart = 5;
constexpr std::chrono::milliseconds kLongestUse(100);
constexpr uint64_t kMostIterations = uint64_t{1} << 40;
// Before each turn as much again divided by this is run without counting: it brings the program's
// data back into the cache, from which the others have pushed it.
constexpr uint64_t kWarmShare = 16;

std::vector<int> usable_cpu_numbers() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

void allow_cpus(pid_t process, std::span<const int> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  (void)::sched_setaffinity(process, sizeof set, &set);  // without it: noisier, not wrong
}

/// The differences of one round as logarithms; times that are not told count as equal.
struct Contrast {
  double candidate = 0;
  double control = 0;
  double other_control = 0;
};

template <typename Round>
Contrast contrast_of(const Round& round, double StepTime::* time) {
  std::array<double, 4> logarithms{};
  for (size_t i = 0; i < logarithms.size(); ++i) {
    if (!(round[i].*time > 0)) return {};
    logarithms[i] = std::log(round[i].*time);
  }
  const auto& [base, candidate, other_base, other_candidate] = logarithms;
  return {(candidate + other_candidate - base - other_base) / 2,
          (base - other_base + candidate - other_candidate) / 2,
          (base - other_base - candidate + other_candidate) / 2};
}

}  // namespace

Lockstep::Lockstep(LockstepPlan plan)
    : plan_(std::move(plan)),
      rng_(plan_.seed),
      cpus_(usable_cpu_numbers()),
      priority_(::getpriority(PRIO_PROCESS, 0)) {
  // Inherited by the programs. Where it is not allowed, background work disturbs more.
  (void)::setpriority(PRIO_PROCESS, 0, kPriority);
}

Lockstep::~Lockstep() {
  unpin();
  (void)::setpriority(PRIO_PROCESS, 0, priority_);
}

/// One thread takes turns best on one CPU, together with whoever hands the turn over: no core has
/// to wake up. Each generation uses another one: a process that forks where it has not run before
/// interrupts the CPU where it has.
void Lockstep::pin_to_one_cpu() {
  if (plan_.benchmark.threads != 1 || cpus_.empty()) return;
  const std::span one(&cpus_[generation_ % cpus_.size()], 1);
  allow_cpus(0, one);
  for (const auto& program : programs_) allow_cpus(program.pid(), one);
}

void Lockstep::unpin() {
  if (!cpus_.empty()) allow_cpus(0, cpus_);
}

Lockstep::Order Lockstep::random_order() {
  Order order{0, 1, 2, 3};
  shuffle(order, rng_);
  return order;
}

bool Lockstep::time_for_new_programs() const {
  if (programs_.empty() || one_unit_of_each_) return true;
  return units_of_generation_ >= kFewestUnits &&
         used_ >= std::min<Nanoseconds>(kShareOfStart * start_took_, kLongestUse);
}

Result<void> Lockstep::replace_programs() {
  const auto begin = steady_clock::now();
  programs_.clear();
  is_open_ = false;
  unpin();  // they start side by side
  // Started in random order, so that age does not tell base and candidate apart.
  const auto order = random_order();
  std::array<size_t, kPrograms> place{};
  std::vector<StepClient> started;
  for (const size_t i : order) {
    const bool is_base = i % 2 == 0;
    auto program = StepClient::spawn(is_base ? "base" : "candidate",
                                     is_base ? plan_.base : plan_.candidate, plan_.timeout);
    if (!program) return fail_from(program);
    place[i] = started.size();
    started.push_back(*std::move(program));
  }
  for (auto& program : started)
    if (auto greeted = program.greet(); !greeted) return greeted;
  for (const size_t where : place) programs_.push_back(std::move(started[where]));
  ++generation_;
  units_of_generation_ = 0;
  used_ = {};
  start_took_ = steady_clock::now() - begin;
  return {};
}

Result<void> Lockstep::open_anew() {
  const auto order = random_order();
  // All at once, then all answers: four programs on one CPU need not wait for each other.
  if (is_open_) {
    for (auto& program : programs_) program.ask_to_close();
    for (auto& program : programs_)
      if (auto closed = program.finish(); !closed) return closed;
  }
  pin_to_one_cpu();
  for (const size_t i : order) programs_[i].ask_to_open(plan_.benchmark);
  for (const size_t i : order)
    if (auto opened = programs_[i].finish(); !opened) return opened;
  is_open_ = true;
  if (auto calibrated = calibrate(); !calibrated) return calibrated;
  for (const auto& warm_up : {order, random_order()})
    if (auto warm = round(warm_up); !warm) return fail_from(warm);
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

Result<Lockstep::Round> Lockstep::round(const Order& order) {
  Round times{};
  for (const size_t i : order) {
    auto time = programs_[i].step(iterations_, iterations_ / kWarmShare);
    if (!time) return fail_from(time);
    times[i] = *time;
  }
  return times;
}

/// What opens slowly is measured longer, so that most of the time is not spent on opening: as long
/// as the plan allows, and at least half as long as it took to open.
Lockstep::Nanoseconds Lockstep::time_of_unit(Nanoseconds opening) const {
  const auto most = std::max({plan_.unit, plan_.longest_unit, opening / 2});
  return std::clamp(opening * 3 / 2, plan_.unit, most);
}

Result<PairedUnit> Lockstep::next_unit() {
  if (time_for_new_programs())
    if (auto replaced = replace_programs(); !replaced) return fail_from(replaced);
  const auto begin = steady_clock::now();
  if (auto opened = open_anew(); !opened) return fail_from(opened);
  const auto opened_at = steady_clock::now();
  const auto end = opened_at + time_of_unit(opened_at - begin);
  std::vector<double> candidate;
  std::vector<double> control;
  std::vector<double> other_control;
  std::vector<double> cpu;
  while (candidate.size() < kFewestRounds || steady_clock::now() < end) {
    auto order = random_order();
    for (int half = 0; half < 2; ++half) {
      const auto times = round(order);
      if (!times) return fail_from(times);
      const auto wall = contrast_of(*times, &StepTime::wall_ns);
      candidate.push_back(wall.candidate);
      control.push_back(wall.control);
      other_control.push_back(wall.other_control);
      cpu.push_back(contrast_of(*times, &StepTime::cpu_ns).candidate);
      std::ranges::reverse(order);
    }
  }
  ++units_of_generation_;
  used_ += steady_clock::now() - begin;
  const size_t rounds = candidate.size();
  return PairedUnit{.candidate = stats::midmean(std::move(candidate)),
                    .control = stats::midmean(std::move(control)),
                    .other_control = stats::midmean(std::move(other_control)),
                    .candidate_cpu = stats::midmean(std::move(cpu)),
                    .rounds = rounds,
                    .generation = generation_};
}

}  // namespace trilobite
