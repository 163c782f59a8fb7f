#include "cli/self_test_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/thread_pool.hpp"
#include "cli/ab_run.hpp"
#include "fixtures/make_fixture.hpp"
#include "harness/step_result.hpp"
#include "harness/time_statistics.hpp"
#include "record/baseline.hpp"
#include "stats/describe.hpp"
#include "stats/distributions.hpp"
#include "stats/mann_whitney.hpp"
#include "stats/welch.hpp"
#include "verdict/regression.hpp"

namespace trilobite::cli {
namespace {

using std::chrono::steady_clock;

constexpr size_t kPooledRuns = 5;
constexpr double kAlpha = 0.01;
constexpr std::chrono::seconds kTimeout(10);

enum Method : size_t { by_ab, by_check, by_mann_whitney, by_welch, by_threshold };

/// One whole run: a new process that measures as `bench` does.
Result<BenchmarkResult> whole_run(double extra) {
  auto command = command_of({.extra = extra});
  command.emplace_back("--one-run");
  auto process = ChildProcess::spawn(command);
  if (!process) return fail_from(process);
  std::string line;
  if (process->receive(line, kTimeout) != ChildProcess::Reading::line)
    return fail("a run of the self-test " + process->wait(), ErrorKind::environment);
  const auto json = parse_json(line);
  if (!json) return fail_from(json);
  auto run = step_from_json(*json);
  if (!run) return fail_from(run);
  auto result = std::move(run->partial);
  result.id = kKernelId;
  if (result.status != Status::ok) return fail("a run of the self-test: " + result.reason);
  result.statistics = statistics_of(result.samples_ns, 1);
  return result;
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
        fixtures::make_fixture({.architecture = "bitnet-b1.58", .size = "small"}, folder, pool);
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

Baseline pool_of(std::span<const BenchmarkResult> results) {
  Baseline pool;
  for (const auto& result : results) {
    RunRecord run;
    run.complete = true;
    run.benchmarks = {result};
    pool.runs.push_back(std::move(run));
  }
  return pool;
}

Result<bool> check_says_regressed(std::span<const BenchmarkResult> pool,
                                  const BenchmarkResult& current) {
  const auto report = verdict::check_regression(pool_of(pool), pool_of(std::span(&current, 1)), {});
  if (!report) return fail_from(report);
  return report->count(verdict::Answer::regressed) > 0;
}

Result<void> trial_of_whole_runs(EffectTally& tally) {
  std::vector<BenchmarkResult> runs;
  for (size_t i = 0; i <= kPooledRuns; ++i) {
    auto run = whole_run(i == kPooledRuns ? tally.effect : 0);
    if (!run) return fail_from(run);
    runs.push_back(*std::move(run));
  }
  const auto current = stats::Sample::from(runs.back().samples_ns);
  const auto last = stats::Sample::from(runs[kPooledRuns - 1].samples_ns);
  if (!current || !last) return fail("a run of the self-test has too few samples");
  const auto regressed = check_says_regressed(std::span(runs).first(kPooledRuns), runs.back());
  if (!regressed) return fail_from(regressed);
  count(tally, by_check, *regressed);
  // What the simple methods compare with is the run before.
  const bool slower = stats::median(*current) > stats::median(*last);
  count(tally, by_mann_whitney,
        slower && stats::mann_whitney(*last, *current).p_value < 2 * kAlpha);
  const auto welch = stats::welch(*current, *last);
  count(tally, by_welch, welch && welch->t > 0 && welch->p_value < 2 * kAlpha);
  count(tally, by_threshold, stats::median(*current) > 1.05 * stats::median(*last));
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
