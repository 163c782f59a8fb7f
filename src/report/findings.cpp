#include "report/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/human_units.hpp"

namespace trilobite {
namespace {

using Results = std::vector<const BenchmarkResult*>;

size_t count_of(const ReportData& data, Status status) {
  return static_cast<size_t>(
      std::ranges::count(data.joined.benchmarks, status, &BenchmarkResult::status));
}

Finding overview(const ReportData& data) {
  const auto total = data.joined.benchmarks.size();
  if (total == 0)
    return {FindingKind::doubt, "The record holds no benchmarks: nothing was measured.", {}};
  const auto ok = measured_results(data).size();
  auto text = fmt::format("{} of {} benchmarks were measured and gave the right output", ok, total);
  if (const auto skipped = count_of(data, Status::skipped); skipped > 0)
    text += fmt::format("; {} skipped", skipped);
  return {ok == 0 ? FindingKind::worst : FindingKind::fact, text + ".", {}};
}

void add_failures(const ReportData& data, std::vector<Finding>& all) {
  Finding finding{FindingKind::worst, "", {}};
  for (const auto& result : data.joined.benchmarks) {
    if (result.status == Status::failed || result.status == Status::timeout)
      finding.evidence.push_back(result.id);
  }
  if (finding.evidence.empty()) return;
  finding.text =
      fmt::format("{} failed or timed out; their times do not count.", finding.evidence.size());
  all.push_back(std::move(finding));
}

/// "cpu is the fastest beyond doubt in 9 of 14 cases": for whoever wins most.
void add_winner(const ReportData& data, std::vector<Finding>& all) {
  std::map<std::string, size_t> wins;
  size_t cases = 0;
  size_t ties = 0;
  for (const auto& group : data.comparison.groups) {
    if (group.outcome == Outcome::one_device || group.outcome == Outcome::no_device) continue;
    ++cases;
    if (group.outcome == Outcome::winner) ++wins[group.fastest];
    ties += group.outcome == Outcome::tie ? 1 : 0;
  }
  if (cases == 0) return;
  std::string text;
  std::vector<std::pair<std::string, size_t>> order(wins.begin(), wins.end());
  std::ranges::stable_sort(order, std::greater(), &std::pair<std::string, size_t>::second);
  for (const auto& [device, count] : order)
    text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", device, count);
  text = fmt::format("Fastest beyond doubt, of {} that ran on several devices: {}{}.",
                     cases == 1 ? "1 case" : fmt::format("{} cases", cases),
                     text.empty() ? "none" : text,
                     ties > 0 ? fmt::format("; {} cannot be told apart", ties) : "");
  all.push_back({FindingKind::fact, text, {}});
}

void add_speedups(const ReportData& data, std::vector<Finding>& all) {
  std::vector<const DeviceEntry*> entries;
  for (const auto& group : data.comparison.groups) {
    for (const auto& entry : group.entries) {
      if (entry.speedup && entry.device != data.comparison.baseline) entries.push_back(&entry);
    }
  }
  if (entries.empty()) return;
  const auto value = [](const DeviceEntry* entry) { return entry->speedup->value; };
  const auto sentence = [&](const DeviceEntry& entry) {
    return fmt::format("{} as fast as {} (95 %: {})", human_ratio(entry.speedup->value),
                       data.comparison.baseline, human_ratios(entry.speedup->ci95));
  };
  const auto* best = *std::ranges::max_element(entries, {}, value);
  all.push_back({FindingKind::best, "Largest speed-up: " + sentence(*best) + ".", {best->id}});
  const auto* worst = *std::ranges::min_element(entries, {}, value);
  if (worst != best)
    all.push_back(
        {FindingKind::worst, "Smallest speed-up: " + sentence(*worst) + ".", {worst->id}});
}

std::string share_text(const BenchmarkResult& result) {
  return fmt::format("{} of {}", human_percent(result.limit->share), result.limit->limit);
}

/// The limits that the run itself says were measured wrongly: something was much faster.
std::set<std::string> doubted_limits(const ReportData& data) {
  std::set<std::string> limits;
  for (const auto& warning : data.joined.warnings) {
    const auto found = data.index.find(warning.benchmark);
    if (warning.code != "above-limit" || found == data.index.end()) continue;
    if (const auto& limit = data.joined.benchmarks[found->second].limit)
      limits.insert(limit->limit);
  }
  return limits;
}

void add_limits(const ReportData& data, std::vector<Finding>& all) {
  const auto doubted = doubted_limits(data);
  Results results;
  for (const auto* result : measured_results(data)) {
    if (result->limit && std::isfinite(result->limit->share) &&
        !doubted.contains(result->limit->limit))
      results.push_back(result);
  }
  if (results.empty()) return;
  const auto share = [](const BenchmarkResult* result) { return result->limit->share; };
  const auto* best = *std::ranges::max_element(results, {}, share);
  all.push_back({FindingKind::best,
                 "Closest to what the machine can do: " + share_text(*best) + ".",
                 {best->id}});
  const auto* worst = *std::ranges::min_element(results, {}, share);
  if (worst != best) {
    all.push_back({FindingKind::worst,
                   "Furthest from what the machine can do: " + share_text(*worst) + ".",
                   {worst->id}});
  }
}

void add_changes(const ReportData& data, std::vector<Finding>& all) {
  using verdict::Answer;
  if (data.regression) {
    const auto& report = *data.regression;
    const auto regressed = report.count(Answer::regressed);
    Finding finding{
        regressed > 0 ? FindingKind::worst : FindingKind::fact,
        fmt::format("Against {}: {} regressed, {} improved, {} equivalent, {} undecided.",
                    report.baseline_name, regressed, report.count(Answer::improved),
                    report.count(Answer::equivalent), report.count(Answer::undecided)),
        {}};
    for (const auto& verdict : report.verdicts) {
      if (verdict.answer == Answer::regressed) finding.evidence.push_back(verdict.benchmark);
    }
    all.push_back(std::move(finding));
  }
  size_t changes = 0;
  for (const auto& trend : data.trends) changes += trend.changes.size();
  if (!data.trends.empty()) {
    all.push_back({FindingKind::fact,
                   fmt::format("The history of {} benchmarks has {} change points.",
                               data.trends.size(), changes),
                   {}});
  }
}

}  // namespace

std::string_view name_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::best: return "best";
    case FindingKind::worst: return "worst";
    case FindingKind::target_met: return "target met";
    case FindingKind::target_missed: return "target missed";
    case FindingKind::doubt: return "doubt";
    case FindingKind::fact: break;
  }
  return "fact";
}

std::vector<Finding> findings(const ReportData& data) {
  std::vector<Finding> all{overview(data)};
  add_failures(data, all);
  add_winner(data, all);
  add_speedups(data, all);
  add_limits(data, all);
  add_changes(data, all);
  std::ranges::move(target_findings(data), std::back_inserter(all));
  std::ranges::move(doubt_findings(data), std::back_inserter(all));
  return all;
}

}  // namespace trilobite
