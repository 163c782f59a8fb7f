#include "cli/self_test_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/log.hpp"
#include "base/thread_pool.hpp"
#include "cli/ab_run.hpp"
#include "fixtures/make_fixture.hpp"
#include "stats/describe.hpp"
#include "stats/distributions.hpp"
#include "stats/mann_whitney.hpp"
#include "stats/median_interval.hpp"
#include "stats/welch.hpp"

namespace trilobite::cli {
namespace {

using std::chrono::steady_clock;

constexpr size_t kPooledRuns = 5;
constexpr size_t kSamplesPerRun = 30;
constexpr double kAlpha = 0.01;
constexpr std::chrono::seconds kTimeout(10);

enum Method : size_t { by_ab, by_check, by_mann_whitney, by_welch, by_threshold };

/// The samples of one whole run: a new process, thirty samples of a millisecond.
Result<std::vector<double>> whole_run(double extra) {
  auto program = StepClient::start("self-test", command_of({.extra = extra}), kTimeout);
  if (!program) return fail_from(program);
  if (auto opened = program->open({.id = kKernelId}); !opened) return fail_from(opened);
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

bool is_claim(verdict::Answer answer) {
  return answer == verdict::Answer::regressed || answer == verdict::Answer::improved;
}

/// A trial without effect counts any claim as an alarm.
bool is_alarm(const EffectTally& tally, const verdict::AbVerdict& verdict) {
  return verdict.answer == verdict::Answer::regressed ||
         (tally.effect == 0 && is_claim(verdict.answer));
}

void count_ab(EffectTally& tally, bool alarm, double seconds) {
  tally.ab_seconds += seconds;
  tally.ab_most_seconds = std::max(tally.ab_most_seconds, seconds);
  count(tally, by_ab, alarm);
}

/// `ab` of one benchmark; it has one stage.
Result<void> trial_of_ab(EffectTally& tally, const AbRequest& request, const std::string& id) {
  const auto begin = steady_clock::now();
  const auto verdict = run_stage(request, id, 1, request.seed);
  if (!verdict) return fail_from(verdict);
  tally.ab_withheld += verdict->control_fired;
  tally.ab_changes += verdict->change;
  count_ab(tally, is_alarm(tally, *verdict),
           std::chrono::duration<double>(steady_clock::now() - begin).count());
  return {};
}

Result<void> trial_of_kernel(EffectTally& tally, uint64_t seed) {
  AbRequest request;
  request.base = command_of({});
  request.candidate = command_of({.extra = tally.effect});
  request.seed = seed;
  return trial_of_ab(tally, request, kKernelId);
}

/// `ab` of fifty benchmarks with all its stages: one claim anywhere is an alarm.
Result<void> trial_of_suite(EffectTally& tally, uint64_t seed) {
  AbRequest request;
  request.base = command_of({});
  request.candidate = command_of({.extra = tally.effect});
  request.pattern = kSuitePattern;
  request.seed = seed;
  const auto report = run_ab_suite(request);
  if (!report) return fail_from(report);
  bool alarm = false;
  for (const auto& verdict : report->verdicts) {
    alarm = alarm || is_alarm(tally, verdict);
    tally.ab_withheld += verdict.control_fired;
    tally.ab_changes += verdict.change / static_cast<double>(report->verdicts.size());
  }
  count_ab(tally, alarm, report->seconds);
  return {};
}

/// The nanoseconds that one token takes when nobody disturbs it.
Result<double> token_time(const Path& model) {
  auto program = StepClient::start("self-test", command_of({.model = model}), kTimeout);
  if (!program) return fail_from(program);
  if (auto opened = program->open({.id = kDecodeId, .threads = usable_cpus()}); !opened)
    return fail_from(opened);
  std::vector<double> tokens;
  while (tokens.size() < 400) {
    const auto time = program->step(1);
    if (!time) return fail_from(time);
    tokens.push_back(time->wall_ns);
  }
  std::ranges::sort(tokens);
  return tokens[tokens.size() / 4];
}

/// Decoding by all CPUs; the extra work is as many sums as take that share of a token.
class DecodeTrials {
 public:
  static Result<DecodeTrials> prepare(const Path& folder) {
    ThreadPool pool(usable_cpus());
    const auto made =
        fixtures::make_fixture({.architecture = "bitnet-b1.58", .size = "medium"}, folder, pool);
    if (!made) return fail_from(made);
    const auto token = token_time(made->path);
    if (!token) return fail_from(token);
    return DecodeTrials(made->path, *token);
  }
  Result<void> trial(EffectTally& tally, uint64_t seed) const {
    AbRequest request;
    request.base = command_of({.model = model_});
    request.candidate =
        command_of({.extra_sums = sums_that_take(tally.effect, token_ns_), .model = model_});
    request.seed = seed;
    request.threads = usable_cpus();
    request.most_time = std::chrono::seconds(20);
    request.settings.least = 0.02;
    return trial_of_ab(tally, request, kDecodeId);
  }

 private:
  DecodeTrials(Path model, double token_ns) : model_(std::move(model)), token_ns_(token_ns) {}
  Path model_;
  double token_ns_;
};

double log_error_of_median(const stats::Sample& sample) {
  const auto interval = stats::median_interval(sample);
  return std::log(interval.high / interval.low) / 4;  // a 95 % interval is four standard errors
}

bool check_says_regressed(const std::vector<stats::Sample>& pool, const stats::Sample& current) {
  verdict::MetricRuns metric;
  metric.benchmark = kKernelId;
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

namespace {

using Trial = std::function<Result<void>(EffectTally&, uint64_t seed)>;

Result<Trial> trial_for(const SelfTestPlan& plan) {
  if (plan.subject == Subject::suite) return trial_of_suite;
  if (plan.subject == Subject::decode) {
    auto trials = DecodeTrials::prepare(plan.folder);
    if (!trials) return fail_from(trials);
    return [all = *std::move(trials)](EffectTally& tally, uint64_t seed) {
      return all.trial(tally, seed);
    };
  }
  return [whole_runs = plan.whole_runs](EffectTally& tally, uint64_t seed) -> Result<void> {
    if (auto done = trial_of_kernel(tally, seed); !done) return done;
    return whole_runs ? trial_of_whole_runs(tally) : Result<void>();
  };
}

}  // namespace

Result<std::vector<EffectTally>> run_self_test_trials(const SelfTestPlan& plan) {
  const auto run_trial = trial_for(plan);
  if (!run_trial) return fail_from(run_trial);
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
    if (tally.trials[by_ab] >= plan.most_trials) {
      if (std::isinf(spent[next])) break;  // all are done
      spent[next] = std::numeric_limits<double>::infinity();
      continue;
    }
    const auto started = steady_clock::now();
    if (auto done = (*run_trial)(tally, plan.seed + trial); !done) return fail_from(done);
    const double seconds = std::chrono::duration<double>(steady_clock::now() - started).count();
    spent[next] += seconds / (tally.effect == 0 ? plan.share_without_effect
                                                : (1 - plan.share_without_effect) / others);
    log::debug("self-test: trial {} of {} % took {:.2f} s", trial, 100 * tally.effect, seconds);
  }
  return tallies;
}

}  // namespace trilobite::cli
