// The findings that need care: targets, and doubts about the numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

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
    if (!supports_95_percent(result->samples_ns.size())) {
      few.evidence.push_back(result->id);
    } else if (half_width(*result) > kWideInterval) {
      wide.evidence.push_back(result->id);
      if (widest == nullptr || half_width(*result) > half_width(*widest)) widest = result;
    }
  }
  if (!few.evidence.empty()) {
    few.text = fmt::format("{} have fewer than six samples, too few for a 95 % interval.",
                           few.evidence.size());
    all.push_back(std::move(few));
  }
  if (widest != nullptr) {
    wide.text = fmt::format("{} medians are known to ±{} or worse; the widest interval is ±{}.",
                            wide.evidence.size(), human_percent(kWideInterval),
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

void add_warnings(const ReportData& data, std::vector<Finding>& all) {
  std::set<std::string> seen;
  for (const auto& warning : data.joined.warnings) {
    if (!warning.benchmark.empty() || !seen.insert(warning.code + warning.message).second) continue;
    auto text = warning.message + ".";
    if (!warning.advice.empty()) text += " Advice: " + warning.advice + ".";
    all.push_back({FindingKind::doubt, std::move(text), {}});
  }
}

/// The finding about figure `name` when `limit_name` is a target for it.
void add_target(const BenchmarkResult& result, const std::string& name, bool at_least,
                std::vector<Finding>& all) {
  const auto value = result.figures.find(name);
  if (value == result.figures.end()) return;
  const double limit = result.figures.at(name + (at_least ? "_at_least" : "_at_most"));
  const bool met = at_least ? value->second >= limit : value->second <= limit;
  all.push_back({met ? FindingKind::target_met : FindingKind::target_missed,
                 fmt::format("{}: {:.4g}, wanted {} {:.4g}.", name, value->second,
                             at_least ? "at least" : "at most", limit),
                 {result.id}});
}

}  // namespace

std::vector<Finding> target_findings(const ReportData& data) {
  std::vector<Finding> all;
  for (const auto* result : measured_results(data)) {
    for (const auto& [name, value] : result->figures) {
      for (const std::string_view ending : {"_at_least", "_at_most"}) {
        if (name.ends_with(ending))
          add_target(*result, name.substr(0, name.size() - ending.size()), ending == "_at_least",
                     all);
      }
    }
  }
  std::ranges::stable_sort(all, std::greater(), &Finding::kind);  // missed ones first
  return all;
}

std::vector<Finding> doubt_findings(const ReportData& data) {
  std::vector<Finding> all;
  add_origin(data, all);
  add_uncertain(data, all);
  add_warnings(data, all);
  return all;
}

}  // namespace trilobite
