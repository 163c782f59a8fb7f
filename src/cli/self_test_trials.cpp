#include "cli/self_test_trials.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/log.hpp"
#include "cli/ab_run.hpp"
#include "kernels/reduce.hpp"
#include "stats/describe.hpp"
#include "stats/distributions.hpp"
#include "stats/mann_whitney.hpp"
#include "stats/median_interval.hpp"
#include "stats/welch.hpp"

namespace trilobite::cli {
namespace {

using std::chrono::steady_clock;

constexpr const char* kBenchmark = "self_test/sum/f32/-/-";
constexpr size_t kNumbers = 32'768;  // 128 KiB: inside the second-level cache
constexpr size_t kPooledRuns = 5;
constexpr size_t kSamplesPerRun = 30;
constexpr double kAlpha = 0.01;
constexpr std::chrono::seconds kTimeout(10);

enum Method : size_t { by_ab, by_check, by_mann_whitney, by_welch, by_threshold };

std::vector<std::string> program_with(double extra) {
  return {"/proc/self/exe", "self-test", "--extra-work", fmt::format("{}", extra)};
}

/// The samples of one whole run: a new process, thirty samples of a millisecond.
Result<std::vector<double>> whole_run(double extra) {
  auto program = StepClient::start("self-test", program_with(extra), kTimeout);
  if (!program) return fail_from(program);
  if (auto opened = program->open({.id = kBenchmark}); !opened) return fail_from(opened);
  uint64_t iterations = 1;
  for (;;) {  // the same doubling on both sides; samples are per iteration
    const auto time = program->step(iterations);
    if (!time) return fail_from(time);
    if (time->wall_ns > 1e6) break;
    iterations *= 2;
  }
  std::vector<double> samples;
  while (samples.size() < kSamplesPerRun) {
    const auto time = program->step(iterations);
    if (!time) return fail_from(time);
    samples.push_back(time->wall_ns / static_cast<double>(iterations));
  }
  return samples;
}

void count(EffectTally& tally, size_t method, bool alarm) {
  ++tally.trials[method];
  tally.alarms[method] += alarm;
}

Result<void> trial_of_ab(EffectTally& tally, uint64_t seed) {
  AbRequest request;
  request.base = program_with(0);
  request.candidate = program_with(tally.effect);
  request.seed = seed;
  const auto begin = steady_clock::now();
  const auto verdict = run_stage(request, kBenchmark, 1, seed);
  if (!verdict) return fail_from(verdict);
  tally.ab_seconds += std::chrono::duration<double>(steady_clock::now() - begin).count();
  tally.ab_withheld += verdict->control_fired;
  // A trial without effect counts any claim as an alarm.
  const bool claim = verdict->answer == verdict::Answer::regressed ||
                     (tally.effect == 0 && verdict->answer == verdict::Answer::improved);
  count(tally, by_ab, claim);
  return {};
}

double log_error_of_median(const stats::Sample& sample) {
  const auto interval = stats::median_interval(sample);
  return std::log(interval.high / interval.low) / 4;  // a 95 % interval is four standard errors
}

bool check_says_regressed(const std::vector<stats::Sample>& pool, const stats::Sample& current) {
  verdict::MetricRuns metric;
  metric.benchmark = kBenchmark;
  metric.metric = "time";
  metric.samples = kSamplesPerRun;
  for (const auto& run : pool) {
    metric.baseline.push_back(stats::median(run));
    metric.within_run = std::max(metric.within_run, log_error_of_median(run));
  }
  metric.current.push_back(stats::median(current));
  metric.within_run = std::max(metric.within_run, log_error_of_median(current));
  return judge_metrics(std::span(&metric, 1), {}).front().answer == verdict::Answer::regressed;
}

Result<void> trial_of_whole_runs(EffectTally& tally) {
  std::vector<stats::Sample> pool;
  for (size_t i = 0; i <= kPooledRuns; ++i) {
    auto samples = whole_run(i == kPooledRuns ? tally.effect : 0);
    if (!samples) return fail_from(samples);
    auto sample = stats::Sample::from(*std::move(samples));
    if (!sample) return fail_from(sample);
    pool.push_back(*std::move(sample));
  }
  const auto current = pool.back();
  pool.pop_back();
  const auto& last = pool.back();  // what the simple methods compare with: the run before
  const bool slower = stats::median(current) > stats::median(last);
  count(tally, by_check, check_says_regressed(pool, current));
  count(tally, by_mann_whitney, slower && stats::mann_whitney(last, current).p_value < 2 * kAlpha);
  const auto welch = stats::welch(current, last);
  count(tally, by_welch, welch && welch->t > 0 && welch->p_value < 2 * kAlpha);
  count(tally, by_threshold, stats::median(current) > 1.05 * stats::median(last));
  return {};
}

}  // namespace

double EffectTally::rate(size_t method) const {
  return trials[method] == 0
             ? 0
             : static_cast<double>(alarms[method]) / static_cast<double>(trials[method]);
}

stats::Interval EffectTally::interval(size_t method) const {
  if (trials[method] == 0) return {0, 1};
  return stats::share_interval(alarms[method], trials[method], 0.95);
}

std::vector<BenchmarkDefinition> self_test_definitions(double extra) {
  const auto body = [extra](Bench& p) {
    const auto count = static_cast<size_t>(std::llround(kNumbers * (1 + extra)));
    const std::vector<float> numbers(count, 1.0F);
    std::vector<double> sums(count / kernels::kSumBlock + 1);
    const kernels::SumBlocksCall call{DType::f32, numbers.data(), count, sums.data()};
    p.measure([&] { kernels::sum_blocks(call); });
  };
  return {{"self_test", "sum", [] { return std::vector{Case{.dtype = "f32"}}; }, body}};
}

Result<std::vector<EffectTally>> run_self_test_trials(const SelfTestPlan& plan) {
  std::vector<EffectTally> tallies;
  for (const double effect : plan.effects) tallies.push_back({.effect = effect});
  std::vector<double> spent(tallies.size(), 0);  // seconds, divided by the share due
  const auto begin = steady_clock::now();
  const double others = std::max(1.0, static_cast<double>(tallies.size()) - 1);
  for (uint64_t trial = 0; steady_clock::now() - begin < plan.time && !plan.should_stop();
       ++trial) {
    // Whoever is furthest behind its share of the time is next.
    const auto next = static_cast<size_t>(std::ranges::min_element(spent) - spent.begin());
    auto& tally = tallies[next];
    const auto started = steady_clock::now();
    if (auto done = trial_of_ab(tally, plan.seed + trial); !done) return fail_from(done);
    if (auto done = trial_of_whole_runs(tally); !done) return fail_from(done);
    const double seconds = std::chrono::duration<double>(steady_clock::now() - started).count();
    spent[next] += seconds / (tally.effect == 0 ? plan.share_without_effect
                                                : (1 - plan.share_without_effect) / others);
    log::debug("self-test: trial {} of {} % took {:.2f} s", trial, 100 * tally.effect, seconds);
  }
  return tallies;
}

}  // namespace trilobite::cli
