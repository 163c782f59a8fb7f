#include "report/markdown.hpp"

#include <fmt/format.h>

#include "base/duration.hpp"
#include "report/findings.hpp"
#include "report/human_units.hpp"
#include "report/markdown_text.hpp"
#include "report/regression_report.hpp"

namespace trilobite {
namespace {

std::string row_of(const BenchmarkResult& result) {
  if (result.status != Status::ok || !result.statistics) {
    return markdown_row({markdown_text(result.id), std::string(outcome_word(result)), "", "", "",
                         "", markdown_text(result.reason)});
  }
  const auto& s = *result.statistics;
  return markdown_row(
      {markdown_text(result.id), human_time(s.median),
       fmt::format("{} to {}", human_time(s.median_ci95.low), human_time(s.median_ci95.high)),
       human_time(s.p95), human_time(s.p99), markdown_text(fitting_throughput(result)),
       markdown_text(short_limit(result))});
}

std::string target_table(const ReportData& data) {
  std::string rows;
  for (const auto& target : targets_of(data)) {
    rows += markdown_row({markdown_text(target.name), markdown_text(wanted_text(target)),
                          markdown_text(measured_text(target)),
                          std::string(name_of(outcome_of(target))),
                          markdown_text(target.reason + target.benchmark)});
  }
  if (rows.empty()) return "";
  return "\n" + markdown_row({"target", "wanted", "measured", "outcome", "reason or source"}) +
         "|---|---|---:|---|---|\n" + rows;
}

}  // namespace

std::string to_markdown(const ReportData& data) {
  std::string text = "# Performance report\n\n";
  for (const auto& source : data.sources) {
    text += fmt::format("{}: {}, {}, commit {}\n\n", markdown_text(source.name),
                        markdown_text(source.record.environment.cpu.model),
                        markdown_text(source.record.started_at),
                        markdown_text(source.record.git.commit.substr(0, 10)));
  }
  for (const auto& finding : findings(data)) {
    text += fmt::format("- **{}** {}{}\n", name_of(finding.kind), markdown_text(finding.text),
                        finding.evidence.empty()
                            ? ""
                            : fmt::format(" ({})", markdown_text(finding.evidence.front())));
  }
  text += target_table(data);
  if (!data.joined.benchmarks.empty()) {
    text += "\n" +
            markdown_row({"benchmark", "median", "95 %", "p95", "p99", "throughput", "of limit"});
    text += "|---|---:|---|---:|---:|---:|---|\n";
    for (const auto& result : data.joined.benchmarks) text += row_of(result);
  }
  std::string advice;
  std::string notes;
  for (const auto& note : data.comparison.notes) notes += "- Note: " + markdown_text(note) + "\n";
  for (const auto& one : data.comparison.recommendations) {
    if (!one.runner_up.empty()) advice += "- " + markdown_text(one.text) + "\n";
  }
  if (!advice.empty()) text += "\n## Recommendations\n\n" + advice + notes;
  if (data.regression) text += "\n" + regression_markdown(*data.regression);
  return text;
}

}  // namespace trilobite
