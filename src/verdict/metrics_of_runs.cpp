#include "verdict/metrics_of_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/describe.hpp"
#include "stats/median_interval.hpp"
#include "verdict/direction.hpp"

namespace trilobite::verdict {
namespace {

constexpr size_t kSamplesForP95 = 40;  // two samples lie beyond it
constexpr size_t kSamplesForP99 = 200;

double p50_error(const std::vector<double>& samples) {
  auto sample = stats::Sample::from(samples);
  if (!sample || sample->size() < 6) return 0;
  const auto interval = stats::median_interval(*sample);
  // Half the width of a 95 % interval is two standard errors.
  return interval.low > 0 ? std::log(interval.high / interval.low) / 4 : 0;
}

/// What the rounds of a run, each in a process and a moment of its own, say about the error of
/// their middle; 0 where there are too few to say anything.
double round_error(const std::vector<double>& samples, const std::vector<uint64_t>& per_round) {
  constexpr size_t kFewestRounds = 3;
  std::vector<double> logarithms;
  size_t first = 0;
  for (const uint64_t count : per_round) {
    const auto begin = samples.begin() + static_cast<ptrdiff_t>(first);
    const auto sample = stats::Sample::from({begin, begin + static_cast<ptrdiff_t>(count)});
    if (sample) logarithms.push_back(std::log(stats::median(*sample)));
    first += count;
  }
  if (logarithms.size() < kFewestRounds) return 0;
  const auto sample = stats::Sample::from(logarithms);
  if (!sample) return 0;
  // Half of the rounds may have been disturbed by somebody: the median is of the others.
  return stats::scaled_mad(*sample) / std::sqrt(static_cast<double>(logarithms.size()));
}

constexpr auto usual_error = [](const BenchmarkResult& result) {
  return std::max(p50_error(result.samples_ns),
                  round_error(result.samples_ns, result.samples_per_round));
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

/// Figures that are the same whenever they are computed; the others may be times of a kind.
bool is_exact_figure(std::string_view name) {
  constexpr std::string_view kParts[] = {"accuracy", "cosine",     "snr_db",
                                         "error",    "perplexity", "mse"};
  return std::ranges::any_of(kParts, [&](auto part) { return name.contains(part); });
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
    if (!is_exact_figure(name)) continue;
    add(builder.metric(name, "",
                       [&figure = name](const BenchmarkResult& result) -> std::optional<double> {
                         const auto found = result.figures.find(figure);
                         if (found == result.figures.end()) return std::nullopt;
                         return found->second;
                       }),
        more_is_better(name).value_or(false));
  }
}

/// The least that the times of runs in quiet moments are believed to differ by: where the pages of
/// a run lie is worth that much, and far more than what its samples differ by (docs/accuracy.md).
constexpr double kQuietRunToRun = 0.005;

/// Nobody else used the core, and yet the samples of one round scatter: then something else, like
/// caches that another CPU empties, decides about them, and about the run as a whole.
double quiet_scatter(const QuietTime& quiet) {
  std::vector<double> logarithms;
  for (const double sample : quiet.samples_ns) logarithms.push_back(std::log(sample));
  const auto sample = stats::Sample::from(logarithms);
  return sample ? stats::scaled_mad(*sample) : 0;
}

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
      [](const BenchmarkResult& result) {
        return result.quiet ? std::max(kQuietRunToRun, quiet_scatter(*result.quiet)) : 0;
      });
}

}  // namespace

std::vector<MetricRuns> metrics_of_runs(const std::string& benchmark, const ResultsOfRuns& baseline,
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

std::vector<std::string> lost_metrics(const ResultsOfRuns& baseline, const ResultsOfRuns& current) {
  std::vector<std::string> lost;
  const auto had = [&](const ResultsOfRuns& runs, auto has) {
    return std::ranges::any_of(runs, [&](const auto* result) { return has(*result); });
  };
  const auto look = [&](const std::string& name, auto has) {
    if (had(baseline, has) && !had(current, has)) lost.push_back(name);
  };
  look("memory", [](const BenchmarkResult& result) { return result.memory.has_value(); });
  look("the check", [](const BenchmarkResult& result) { return result.check.has_value(); });
  look("tokens", [](const BenchmarkResult& result) { return result.throughput.tokens > 0; });
  for (const auto& [name, value] : baseline.front()->figures) {
    if (!is_exact_figure(name)) continue;
    look(name, [&figure = name](const BenchmarkResult& result) {
      return result.figures.contains(figure);
    });
  }
  return lost;
}

}  // namespace trilobite::verdict
