#include "verdict/regression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "verdict/metrics_of_runs.hpp"

namespace trilobite::verdict {
namespace {

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
  const auto& before = baseline.runs.front();
  const auto& after = current.runs.front();
  if (before.environment.fingerprint != after.environment.fingerprint)
    report.remarks.push_back("the runs are of different machines");
  const auto differ = [&](const char* what, const auto& old_value, const auto& new_value) {
    if (old_value != new_value)
      report.remarks.push_back(fmt::format("the runs were made with different {}: {} and {}", what,
                                           old_value, new_value));
  };
  differ("numbers of threads", before.threads, after.threads);
  differ("instruction sets", before.isa, after.isa);
  differ("builds", before.environment.build_type, after.environment.build_type);
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
    for (const auto& lost : lost_metrics(old_runs, new_runs))
      report.problems.push_back(
          {id, fmt::format("missing: the baseline has {}, the current run has not", lost), false});
    for (auto& metric : metrics_of_runs(id, old_runs, new_runs))
      metrics.push_back(std::move(metric));
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

/// Memory and accuracy are always decided: they do not make up for times of which none is. Reports
/// without times count what they have.
static bool times_are_decided(const RegressionReport& report) {
  size_t times = 0;
  size_t undecided_times = 0;
  for (const auto& verdict : report.verdicts) {
    if (!verdict.metric.starts_with("time")) continue;
    ++times;
    undecided_times += verdict.answer == Answer::undecided;
  }
  if (times > 0) return undecided_times < times;
  return report.count(Answer::undecided) < report.verdicts.size();
}

Status status_of(const RegressionReport& report) {
  if (std::ranges::any_of(report.problems, &Problem::failure)) return Status::has_failures;
  const auto has = [&](Level level) {
    return std::ranges::find(report.verdicts, level, &MetricVerdict::level) !=
           report.verdicts.end();
  };
  if (has(Level::critical)) return Status::has_critical_regressions;
  if (has(Level::warning)) return Status::has_regressions;
  return report.problems.empty() && times_are_decided(report) ? Status::all_pass
                                                              : Status::incomplete;
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
