#include "verdict/regression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "stats/describe.hpp"
#include "stats/median_interval.hpp"

namespace trilobite::verdict {
namespace {

constexpr size_t kSamplesForP95 = 40;  // two samples lie beyond it
constexpr size_t kSamplesForP99 = 200;

/// The results of one benchmark, one per run that has it.
using ResultsOfRuns = std::vector<const BenchmarkResult*>;

using ByBenchmark = std::map<std::string, ResultsOfRuns>;

/// The results that are ok.
ByBenchmark by_benchmark(const Baseline& pool) {
  ByBenchmark found;
  for (const auto& run : pool.runs)
    for (const auto& result : run.benchmarks)
      if (result.status == trilobite::Status::ok) found[result.id].push_back(&result);
  return found;
}

/// A summary says how fast, not how sure that is: without samples nothing can be judged.
ResultsOfRuns with_samples(const ResultsOfRuns& results) {
  ResultsOfRuns found;
  std::ranges::copy_if(results, std::back_inserter(found),
                       [](const auto* result) { return !result->samples_ns.empty(); });
  return found;
}

double p50_error(const std::vector<double>& samples) {
  auto sample = stats::Sample::from(samples);
  if (!sample || sample->size() < 6) return 0;
  const auto interval = stats::median_interval(*sample);
  // Half the width of a 95 % interval is two standard errors.
  return interval.low > 0 ? std::log(interval.high / interval.low) / 4 : 0;
}

constexpr auto usual_error = [](const BenchmarkResult& result) {
  return p50_error(result.samples_ns);
};

/// One value per run and what the samples say about its error.
class MetricBuilder {
 public:
  MetricBuilder(std::string benchmark, const ResultsOfRuns& baseline, const ResultsOfRuns& current)
      : benchmark_(std::move(benchmark)), baseline_(baseline), current_(current) {}

  /// `value` gives nothing when a result does not have the metric; `error` is that of the value as
  /// the samples tell.
  template <typename ValueOf, typename ErrorOf = decltype(usual_error)>
  std::optional<MetricRuns> metric(std::string name, std::string unit, ValueOf value,
                                   ErrorOf error = usual_error) const {
    MetricRuns metric;
    metric.benchmark = benchmark_;
    metric.metric = std::move(name);
    metric.unit = std::move(unit);
    metric.samples = SIZE_MAX;
    collect(baseline_, metric.baseline, metric, value, error);
    collect(current_, metric.current, metric, value, error);
    const auto runs = static_cast<double>(metric.baseline.size() + metric.current.size());
    metric.within_run = std::sqrt(metric.within_run / std::max(1.0, runs));
    if (metric.baseline.empty() || metric.current.empty()) return std::nullopt;
    metric.per_run_samples = current_.front()->samples_ns.size();
    return metric;
  }

 private:
  template <typename ValueOf, typename ErrorOf>
  void collect(const ResultsOfRuns& results, std::vector<double>& values, MetricRuns& metric,
               ValueOf value, ErrorOf error_of) const {
    for (const auto* result : results) {
      const std::optional<double> one = value(*result);
      if (!one) continue;
      values.push_back(*one);
      metric.samples = std::min(metric.samples, result->samples_ns.size());
      const double error = error_of(*result);
      metric.within_run += error * error;  // the mean of the squares in the end
    }
  }

  std::string benchmark_;
  const ResultsOfRuns& baseline_;
  const ResultsOfRuns& current_;
};

std::optional<double> percentile_of(const BenchmarkResult& result, double percent, size_t needed) {
  if (result.samples_ns.size() < needed) return std::nullopt;
  const auto sample = stats::Sample::from(result.samples_ns);
  if (!sample) return std::nullopt;
  return stats::percentile(*sample, percent);
}

std::optional<double> positive(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

/// Names of figures that have a good and a bad direction.
std::optional<bool> figure_more_is_better(std::string_view name) {
  for (const std::string_view part : {"accuracy", "cosine", "snr_db", "psnr_db"})
    if (name.find(part) != std::string_view::npos) return true;
  for (const std::string_view part : {"error", "perplexity", "mse"})
    if (name.find(part) != std::string_view::npos) return false;
  return std::nullopt;
}

void add_accuracy(const MetricBuilder& builder, const BenchmarkResult& example,
                  std::vector<MetricRuns>& metrics) {
  const auto add = [&](std::optional<MetricRuns> metric, bool more_is_better) {
    if (!metric) return;
    metric->exact = true;
    metric->more_is_better = more_is_better;
    metrics.push_back(*std::move(metric));
  };
  add(builder.metric("accuracy_cosine", "",
                     [](const BenchmarkResult& result) -> std::optional<double> {
                       return result.check ? result.check->cosine : std::nullopt;
                     }),
      true);
  for (const auto& [name, value] : example.figures) {
    const auto better = figure_more_is_better(name);
    if (!better) continue;
    add(builder.metric(name, "",
                       [&figure = name](const BenchmarkResult& result) -> std::optional<double> {
                         const auto found = result.figures.find(figure);
                         if (found == result.figures.end()) return std::nullopt;
                         return found->second;
                       }),
        *better);
  }
}

/// The least that the times of runs in quiet moments are believed to differ by: where the pages of
/// a run lie is worth that much, and far more than what its samples differ by (docs/accuracy.md).
constexpr double kQuietRunToRun = 0.005;

/// Times of moments in which nobody else used the core: they vary far less from run to run. Only of
/// runs whose witness agrees with the best one's: another never saw such a moment.
std::optional<MetricRuns> quiet_time(const MetricBuilder& builder, const ResultsOfRuns& baseline,
                                     const ResultsOfRuns& current) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto* runs : {&baseline, &current})
    for (const auto* result : *runs)
      if (result->quiet) shortest = std::min(shortest, result->quiet->witness_ns);
  return builder.metric(
      "time_quiet", "ns",
      [&](const BenchmarkResult& result) -> std::optional<double> {
        if (!result.quiet || result.quiet->witness_ns > kQuietSpread * shortest)
          return std::nullopt;
        return positive(result.quiet->best_ns);
      },
      [](const BenchmarkResult&) { return kQuietRunToRun; });
}

std::vector<MetricRuns> metrics_of(const std::string& benchmark, const ResultsOfRuns& baseline,
                                   const ResultsOfRuns& current) {
  const MetricBuilder builder(benchmark, baseline, current);
  std::vector<MetricRuns> metrics;
  const auto add = [&](std::optional<MetricRuns> metric) {
    if (metric) metrics.push_back(*std::move(metric));
  };
  // Where there are quiet times, the others tell more about the neighbours than about the program.
  if (auto quiet = quiet_time(builder, baseline, current)) {
    metrics.push_back(*std::move(quiet));
  } else {
    add(builder.metric("time", "ns", [](const BenchmarkResult& result) {
      return result.statistics ? positive(result.statistics->median) : std::nullopt;
    }));
  }
  add(builder.metric("latency_p95", "ns", [](const BenchmarkResult& result) {
    return percentile_of(result, 95, kSamplesForP95);
  }));
  add(builder.metric("latency_p99", "ns", [](const BenchmarkResult& result) {
    return percentile_of(result, 99, kSamplesForP99);
  }));
  auto tokens = builder.metric("throughput_tokens", "1/s", [](const BenchmarkResult& result) {
    return positive(result.throughput.tokens);
  });
  if (tokens) {
    tokens->more_is_better = true;
    metrics.push_back(*std::move(tokens));
  }
  for (const bool peak : {false, true}) {
    auto memory =
        builder.metric(peak ? "memory_peak" : "memory_allocated", "bytes",
                       [peak](const BenchmarkResult& result) -> std::optional<double> {
                         if (!result.memory) return std::nullopt;
                         return static_cast<double>(peak ? result.memory->peak_bytes
                                                         : result.memory->allocated_bytes);
                       });
    if (memory) {
      memory->exact = true;
      metrics.push_back(*std::move(memory));
    }
  }
  add_accuracy(builder, *current.front(), metrics);
  return metrics;
}

Result<void> check_machines(const Baseline& baseline, const Baseline& current,
                            const RegressionSettings& settings) {
  const auto& before = baseline.runs.front().environment;
  const auto& after = current.runs.front().environment;
  if (settings.other_machine || before.fingerprint == after.fingerprint) return {};
  return fail(fmt::format(
      "the baseline is of another machine ({}, {}) than the current run ({}, {}); times of "
      "different machines do not compare (--other-machine does it nevertheless)",
      before.fingerprint, before.cpu.model, after.fingerprint, after.cpu.model));
}

void add_problems(const Baseline& baseline, const Baseline& current, RegressionReport& report) {
  const auto wanted = by_benchmark(baseline);
  const auto good = by_benchmark(current);
  std::set<std::string> told;
  for (const auto& run : current.runs) {
    for (const auto& result : run.benchmarks) {
      const bool failure =
          result.status == trilobite::Status::failed || result.status == trilobite::Status::timeout;
      const bool lost = result.status == trilobite::Status::skipped && wanted.contains(result.id);
      if ((failure || lost) && told.insert(result.id).second) {
        report.problems.push_back(
            {result.id, fmt::format("{}: {}", trilobite::name_of(result.status), result.reason),
             failure});
      }
    }
    if (!run.complete) report.remarks.push_back(fmt::format("run {} was interrupted", run.id));
  }
  for (const auto& [id, results] : wanted) {
    if (!good.contains(id) && told.insert(id).second)
      report.problems.push_back(
          {id, "missing: the baseline has it, the current run has not", false});
  }
}

void add_remarks(const Baseline& baseline, const Baseline& current, size_t fresh,
                 RegressionReport& report) {
  if (baseline.runs.size() == 1) {
    report.remarks.push_back(
        "the baseline is one run: how much runs vary is taken from its other benchmarks or from "
        "what is usual; pool five with `trilobite baseline update`");
  }
  if (fresh > 0) {
    report.remarks.push_back(
        fmt::format("{} benchmark{} the baseline does not have", fresh, fresh == 1 ? "" : "s"));
  }
  if (baseline.runs.front().environment.fingerprint !=
      current.runs.front().environment.fingerprint) {
    report.remarks.push_back("the runs are of different machines");
  }
}

/// The metrics of all benchmarks that both sides have; `fresh` counts those that only the current
/// one has.
std::vector<MetricRuns> shared_metrics(const Baseline& baseline, const Baseline& current,
                                       RegressionReport& report, size_t& fresh) {
  const auto before = by_benchmark(baseline);
  std::vector<MetricRuns> metrics;
  for (const auto& [id, results] : by_benchmark(current)) {
    const auto found = before.find(id);
    if (found == before.end()) {
      ++fresh;
      continue;
    }
    const auto old_runs = with_samples(found->second);
    const auto new_runs = with_samples(results);
    if (old_runs.empty() || new_runs.empty()) {
      const auto* side = old_runs.empty() ? "the baseline" : "the current run";
      report.problems.push_back(
          {id, fmt::format("no samples in {}, so it cannot be judged", side), false});
      continue;
    }
    for (auto& metric : metrics_of(id, old_runs, new_runs)) metrics.push_back(std::move(metric));
  }
  return metrics;
}

}  // namespace

std::string_view name_of(Answer answer) {
  constexpr std::array<std::string_view, 4> kNames{"regressed", "improved", "equivalent",
                                                   "undecided"};
  return kNames[static_cast<size_t>(answer)];
}

std::string_view name_of(Level level) {
  constexpr std::array<std::string_view, 5> kNames{"CRITICAL", "WARNING", "IMPROVEMENT", "STABLE",
                                                   "UNDECIDED"};
  return kNames[static_cast<size_t>(level)];
}

std::string_view name_of(Status status) {
  constexpr std::array<std::string_view, 5> kNames{
      "AllPass", "HasRegressions", "HasCriticalRegressions", "HasFailures", "Incomplete"};
  return kNames[static_cast<size_t>(status)];
}

size_t RegressionReport::count(Answer answer) const {
  return static_cast<size_t>(std::ranges::count(verdicts, answer, &MetricVerdict::answer));
}

Status status_of(const RegressionReport& report) {
  if (std::ranges::any_of(report.problems, &Problem::failure)) return Status::has_failures;
  const auto has = [&](Level level) {
    return std::ranges::find(report.verdicts, level, &MetricVerdict::level) !=
           report.verdicts.end();
  };
  if (has(Level::critical)) return Status::has_critical_regressions;
  if (has(Level::warning)) return Status::has_regressions;
  const bool decided = report.count(Answer::undecided) < report.verdicts.size();
  return report.problems.empty() && decided ? Status::all_pass : Status::incomplete;
}

Result<RegressionReport> check_regression(const Baseline& baseline, const Baseline& current,
                                          const RegressionSettings& settings) {
  if (baseline.runs.empty() || current.runs.empty()) return fail("there is no run to compare");
  if (auto same = check_machines(baseline, current, settings); !same) return fail_from(same);
  RegressionReport report;
  report.baseline_name = baseline.id;
  report.current_name = current.id;
  add_problems(baseline, current, report);
  size_t fresh = 0;
  const auto metrics = shared_metrics(baseline, current, report, fresh);
  for (const auto& metric : metrics) {
    if (metric.metric.starts_with("time") && metric.samples < settings.minimum_samples) {
      report.problems.push_back(
          {metric.benchmark,
           fmt::format("{} samples, {} are asked for", metric.samples, settings.minimum_samples),
           false});
    }
  }
  if (metrics.empty() && report.problems.empty()) {
    return fail("the baseline and the current run have no benchmark in common");
  }
  report.verdicts = judge_metrics(metrics, settings);
  add_remarks(baseline, current, fresh, report);
  report.status = status_of(report);
  return report;
}

}  // namespace trilobite::verdict
