// The findings about targets.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/findings.hpp"
#include "report/human_units.hpp"

namespace trilobite {
namespace {

void add_figure_targets(const BenchmarkResult& result, std::vector<Target>& all) {
  for (const auto& [name, limit] : result.figures) {
    for (const std::string_view ending : {"_at_least", "_below"}) {
      if (!name.ends_with(ending)) continue;
      const auto value = result.figures.find(name.substr(0, name.size() - ending.size()));
      if (value == result.figures.end() || !std::isfinite(limit)) continue;
      Target target{.name = value->first,
                    .limit = limit,
                    .at_least = ending == "_at_least",
                    .unit = "",
                    .benchmark = result.id};
      if (std::isfinite(value->second)) {
        target.measured = value->second;
      } else {
        target.reason = "the figure is not finite";
      }
      all.push_back(std::move(target));
    }
  }
}

}  // namespace

std::vector<Target> targets_of(const ReportData& data) {
  auto all = data.targets;
  for (const auto& result : data.joined.benchmarks) {
    if (result.status == Status::ok) add_figure_targets(result, all);
  }
  std::ranges::stable_sort(all, {}, outcome_of);
  return all;
}

std::vector<Finding> target_findings(const ReportData& data) {
  const auto targets = targets_of(data);
  if (targets.empty()) return {};
  std::array<size_t, 3> counts{};
  std::vector<Finding> missed;
  for (const auto& target : targets) {
    const auto outcome = outcome_of(target);
    ++counts[static_cast<size_t>(outcome)];
    if (outcome != TargetOutcome::missed) continue;
    Finding finding{
        FindingKind::target_missed,
        fmt::format("{}: {}, wanted {}.", target.name, measured_text(target), wanted_text(target)),
        {}};
    if (!target.benchmark.empty()) finding.evidence = {target.benchmark};
    missed.push_back(std::move(finding));
  }
  const auto met = counts[static_cast<size_t>(TargetOutcome::met)];
  const auto kind = !missed.empty() ? FindingKind::target_missed
                    : met > 0       ? FindingKind::target_met
                                    : FindingKind::fact;
  std::vector<Finding> all{
      {kind,
       fmt::format("Of {}: {} met, {} missed, {} unavailable.", counted(targets.size(), "target"),
                   met, missed.size(), counts[static_cast<size_t>(TargetOutcome::unavailable)]),
       {}}};
  std::ranges::move(missed, std::back_inserter(all));
  return all;
}

}  // namespace trilobite
