// The findings that are doubts about the numbers.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/findings.hpp"
#include "report/human_units.hpp"

namespace trilobite {
namespace {

constexpr double kWideInterval = 0.1;  // half of it, as a share of the median

double half_width(const BenchmarkResult& result) {
  const auto& s = *result.statistics;
  return (s.median_ci95.high - s.median_ci95.low) / 2 / s.median;
}

void add_uncertain(const ReportData& data, std::vector<Finding>& all) {
  Finding few{FindingKind::doubt, "", {}};
  Finding wide{FindingKind::doubt, "", {}};
  const BenchmarkResult* widest = nullptr;
  uint64_t disturbed = 0;
  for (const auto* result : measured_results(data)) {
    disturbed += result->disturbance.kept;
    if (result->samples_ns.empty()) continue;
    if (!supports_95_percent(result->samples_ns.size())) {
      few.evidence.push_back(result->id);
    } else if (half_width(*result) > kWideInterval) {
      wide.evidence.push_back(result->id);
      if (widest == nullptr || half_width(*result) > half_width(*widest)) widest = result;
    }
  }
  if (!few.evidence.empty()) {
    few.text = fmt::format("Fewer than six samples, too few for a 95 % interval: {}.",
                           counted(few.evidence.size(), "benchmark"));
    all.push_back(std::move(few));
  }
  if (widest != nullptr) {
    wide.text = fmt::format("Known to ±{1} or worse: {0}; the widest interval is ±{2}.",
                            counted(wide.evidence.size(), "median"), human_percent(kWideInterval),
                            human_percent(half_width(*widest)));
    std::ranges::iter_swap(wide.evidence.begin(), std::ranges::find(wide.evidence, widest->id));
    all.push_back(std::move(wide));
  }
  if (disturbed > 0) {
    all.push_back({FindingKind::doubt,
                   fmt::format("{} samples were disturbed by something else on the machine and "
                               "could not be taken again in the time allowed.",
                               disturbed),
                   {}});
  }
}

/// Results whose samples are not in the record.
void add_without_samples(const ReportData& data, std::vector<Finding>& all) {
  Finding summaries{FindingKind::doubt, "", {}};
  Finding timeless{FindingKind::doubt, "", {}};
  for (const auto& result : data.joined.benchmarks) {
    if (result.status != Status::ok || !result.samples_ns.empty()) continue;
    (result.statistics ? summaries : timeless).evidence.push_back(result.id);
  }
  if (!summaries.evidence.empty()) {
    summaries.text = fmt::format(
        "A summary without its samples: {}. It is shown as it was written; nothing is compared or "
        "judged by it.",
        counted(summaries.evidence.size(), "benchmark"));
    all.push_back(std::move(summaries));
  }
  if (!timeless.evidence.empty()) {
    timeless.text = fmt::format("Neither samples nor a summary of them: {} that passed.",
                                counted(timeless.evidence.size(), "benchmark"));
    all.push_back(std::move(timeless));
  }
}

void add_origin(const ReportData& data, std::vector<Finding>& all) {
  std::set<std::string> machines;
  for (const auto& source : data.sources) {
    machines.insert(source.record.environment.fingerprint);
    const auto name = data.sources.size() > 1 ? "Run " + source.name : std::string("The run");
    if (!source.record.complete)
      all.push_back({FindingKind::doubt, name + " was interrupted or is still going on.", {}});
    if (source.record.git.dirty) {
      all.push_back({FindingKind::doubt,
                     name + " measured a build with changes that are not in its commit.",
                     {}});
    }
  }
  if (machines.size() > 1) {
    all.push_back({FindingKind::doubt,
                   fmt::format("The runs are of {} machines: differences between runs may be "
                               "differences between machines.",
                               machines.size()),
                   {}});
  }
}

/// Each code once: several runs of one machine have the same doubts, with other numbers in them.
void add_warnings(const ReportData& data, std::vector<Finding>& all) {
  std::map<std::string, size_t> counts;
  for (const auto& warning : data.joined.warnings)
    counts[warning.code] += warning.benchmark.empty();
  for (const auto& warning : data.joined.warnings) {
    if (!warning.benchmark.empty()) continue;
    const auto count = std::exchange(counts[warning.code], 0);
    if (count == 0) continue;
    auto text = warning.message + ".";
    if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    if (!warning.advice.empty()) text += " Advice: " + warning.advice + ".";
    if (count > 1)
      text += fmt::format(" So in {}; the environment section has all.", counted(count, "run"));
    all.push_back({FindingKind::doubt, std::move(text), {}});
  }
}

}  // namespace

std::vector<Finding> doubt_findings(const ReportData& data) {
  std::vector<Finding> all;
  add_origin(data, all);
  add_without_samples(data, all);
  add_uncertain(data, all);
  add_warnings(data, all);
  return all;
}

}  // namespace trilobite
