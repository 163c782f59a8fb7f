// The decision for one metric: Student's t on the logarithms of the runs' values, with a moderated
// variance.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "stats/distributions.hpp"
#include "stats/false_discovery.hpp"
#include "stats/moderated_variance.hpp"
#include "verdict/regression.hpp"

namespace trilobite::verdict {
namespace {

// A pool of one run says nothing about the variance between runs. These are what whole runs of
// quiet kernels varied by on the shared machine of docs/accuracy.md, and how much that counts.
constexpr double kUsualRunToRun = 0.02;
constexpr double kUsualRunToRunDegrees = 3;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_around_mean(const std::vector<double>& values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

/// What one metric tells before the others are heard.
struct Evidence {
  double difference = 0;  // of the logarithms, for the worse
  stats::Variance run_to_run;
  double runs_term = 1;  // 1/baseline runs + 1/current runs
};

Evidence evidence_of(const MetricRuns& metric) {
  const auto before = logarithms(metric.baseline);
  const auto after = logarithms(metric.current);
  const double degrees = static_cast<double>(before.size() + after.size()) - 2;
  const double squares = squares_around_mean(before) + squares_around_mean(after);
  const double sign = metric.more_is_better.value_or(false) ? -1 : 1;
  return {
      .difference = sign * (mean(after) - mean(before)),
      .run_to_run = {degrees > 0 ? squares / degrees : 0, degrees},
      .runs_term = 1 / static_cast<double>(before.size()) + 1 / static_cast<double>(after.size())};
}

bool comparable(const MetricRuns& metric) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  return !metric.baseline.empty() && !metric.current.empty() &&
         std::ranges::all_of(metric.baseline, positive) &&
         std::ranges::all_of(metric.current, positive);
}

/// The variance that the test uses: own runs, other benchmarks, what is usual, never less than the
/// samples of a run show.
stats::Variance believed_variance(const Evidence& evidence, const MetricRuns& metric,
                                  const stats::Variance& usual) {
  auto variance = stats::moderated(evidence.run_to_run, usual);
  if (!(variance.degrees_of_freedom > 0))
    variance = {kUsualRunToRun * kUsualRunToRun, kUsualRunToRunDegrees};
  variance.value = std::max({variance.value, metric.within_run * metric.within_run, 1e-12});
  return variance;
}

size_t further_samples(const MetricRuns& metric, const stats::Variance& variance,
                       const Levels& levels) {
  // Runs on each side after which the interval is as wide as half of what matters.
  const double reach = std::log1p(levels.least) / 2;
  const double z = stats::normal_quantile(0.975);
  const double runs = std::ceil(2 * z * z * variance.value / (reach * reach));
  const double missing = std::max(1.0, runs - static_cast<double>(metric.current.size()));
  return static_cast<size_t>(missing) * std::max<size_t>(1, metric.per_run_samples);
}

/// Logarithms of how much worse it became, as the change that people expect: "15 % less throughput"
/// is 0.15 of what there was.
double change_from(double worse, bool more_is_better) {
  return more_is_better ? -std::expm1(-worse) : std::expm1(worse);
}
double logarithm_of(double change, bool more_is_better) {
  return more_is_better ? -std::log1p(-std::min(change, 1.0)) : std::log1p(change);
}

void set_level(MetricVerdict& verdict, const Levels& levels) {
  switch (verdict.answer) {
    case Answer::regressed:
      verdict.level = verdict.change >= levels.critical ? Level::critical : Level::warning;
      break;
    case Answer::improved: verdict.level = Level::improvement; break;
    case Answer::equivalent: verdict.level = Level::stable; break;
    case Answer::undecided: verdict.level = Level::undecided;
  }
}

/// `worse` and `reach` are logarithms; `matters` is one too.
Answer answer_of(double worse, double reach, double matters, bool different) {
  const bool could_matter = worse + reach >= matters || worse - reach <= -matters;
  if (!could_matter) return Answer::equivalent;
  if (!different || std::abs(worse) < matters / 2) return Answer::undecided;
  return worse > 0 ? Answer::regressed : Answer::improved;
}

MetricVerdict described(const MetricRuns& metric) {
  MetricVerdict verdict;
  verdict.benchmark = metric.benchmark;
  verdict.metric = metric.metric;
  verdict.unit = metric.unit;
  return verdict;
}

/// Of `before`, for the worse; infinite when there was nothing.
double exact_change(double before, double after, bool more_is_better) {
  if (before == after) return 0;
  const double worse = more_is_better ? before - after : after - before;
  if (std::isinf(before)) return worse > 0 ? 1 : -1;  // all of it is lost
  if (before == 0) return std::copysign(kInfinite, worse);
  return worse / std::abs(before);
}

MetricVerdict judge_exact(const MetricRuns& metric, const Levels& levels) {
  auto verdict = described(metric);
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (std::ranges::any_of(metric.baseline, is_nan) || std::ranges::any_of(metric.current, is_nan)) {
    verdict.note = "not a number on one side";
    return verdict;
  }
  const auto [low, high] = std::ranges::minmax(metric.baseline);
  verdict.baseline = mean(metric.baseline);
  verdict.current = mean(metric.current);
  // Within what the baseline's own runs counted there is no change.
  const double reference = std::clamp(verdict.current, low, high);
  verdict.change = exact_change(reference, verdict.current, metric.more_is_better.value_or(false));
  verdict.interval = {verdict.change, verdict.change};
  verdict.p_value = verdict.change == 0 ? 1 : 0;
  const double rounding = 0.999;
  if (std::abs(verdict.change) < levels.least * rounding) {
    verdict.answer = Answer::equivalent;
  } else if (!metric.more_is_better) {
    verdict.note = fmt::format(
        "whether more is better is not known: {0}_decrease_percent or {0}_increase_percent among "
        "the thresholds says it",
        metric.metric);
  } else {
    verdict.answer = verdict.change > 0 ? Answer::regressed : Answer::improved;
  }
  set_level(verdict, levels);
  return verdict;
}

struct Pending {
  size_t index;
  Evidence evidence;
  stats::Variance variance;
};

MetricVerdict judge_measured(const MetricRuns& metric, const Pending& pending, double adjusted_p,
                             const RegressionSettings& settings) {
  auto verdict = described(metric);
  const auto levels = settings.levels_for(metric.benchmark, metric.metric);
  const double error = std::sqrt(pending.variance.value * pending.evidence.runs_term);
  const double degrees = pending.variance.degrees_of_freedom;
  const double reach = stats::student_t_quantile(degrees, 0.5 + settings.confidence / 2) * error;
  const double raw_p = stats::student_t_two_sided(pending.evidence.difference / error, degrees);
  verdict.baseline = std::exp(mean(logarithms(metric.baseline)));
  verdict.current = std::exp(mean(logarithms(metric.current)));
  const double worse = pending.evidence.difference;
  const bool more = metric.more_is_better.value_or(false);
  verdict.change = change_from(worse, more);
  verdict.interval = {change_from(worse - reach, more), change_from(worse + reach, more)};
  verdict.p_value = adjusted_p;
  const bool enough = metric.samples >= settings.minimum_samples;
  verdict.answer =
      answer_of(worse, reach, logarithm_of(levels.least, more),
                raw_p / 2 <= settings.false_alarms && adjusted_p <= settings.false_discoveries);
  if (!enough) verdict.answer = Answer::undecided;
  set_level(verdict, levels);
  if (!enough) {
    verdict.note =
        fmt::format("{} samples, {} are asked for", metric.samples, settings.minimum_samples);
    verdict.further_samples = settings.minimum_samples - metric.samples;
  } else if (verdict.answer == Answer::undecided) {
    verdict.further_samples = further_samples(metric, pending.variance, levels);
    verdict.note = fmt::format("runs vary by {:.1f} %", 100 * std::sqrt(pending.variance.value));
  }
  return verdict;
}

}  // namespace

std::vector<MetricVerdict> judge_metrics(std::span<const MetricRuns> metrics,
                                         const RegressionSettings& settings) {
  std::vector<MetricVerdict> verdicts(metrics.size());
  std::vector<Pending> pending;
  // Benchmarks strengthen each other, metrics do not: a tail varies more than a median.
  std::map<std::string, std::vector<stats::Variance>> variances;
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].exact && !metrics[i].baseline.empty() && !metrics[i].current.empty()) {
      verdicts[i] =
          judge_exact(metrics[i], settings.levels_for(metrics[i].benchmark, metrics[i].metric));
    } else if (!comparable(metrics[i])) {
      verdicts[i] = described(metrics[i]);
      verdicts[i].note = "no positive value on both sides";
    } else {
      pending.push_back({i, evidence_of(metrics[i]), {}});
      variances[metrics[i].metric].push_back(pending.back().evidence.run_to_run);
    }
  }
  std::map<std::string, stats::Variance> usual;
  for (const auto& [metric, all] : variances) usual[metric] = stats::usual_variance(all);
  std::vector<double> p_values;
  for (auto& one : pending) {
    const auto& metric = metrics[one.index];
    one.variance = believed_variance(one.evidence, metric, usual[metric.metric]);
    const double error = std::sqrt(one.variance.value * one.evidence.runs_term);
    p_values.push_back(stats::student_t_two_sided(one.evidence.difference / error,
                                                  one.variance.degrees_of_freedom));
  }
  const auto adjusted = stats::adjusted_p_values(p_values);
  for (size_t i = 0; i < pending.size(); ++i) {
    verdicts[pending[i].index] =
        judge_measured(metrics[pending[i].index], pending[i], adjusted[i], settings);
  }
  return verdicts;
}

}  // namespace trilobite::verdict
