#include "report/console_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "report/display_text.hpp"
#include "report/human_units.hpp"

namespace trilobite {
namespace {

// A screen's worth: whoever wants all of them reads the record.
constexpr size_t kReasonsShown = 5;
constexpr size_t kFailuresShown = 20;

size_t count_of(const RunRecord& record, Status status) {
  return static_cast<size_t>(
      std::ranges::count(record.benchmarks, status, &BenchmarkResult::status));
}

/// "OpenBLAS has no softmax (6), not enough memory (2)": most frequent first.
std::string grouped_reasons(const RunRecord& record, Status status) {
  std::map<std::string, size_t> counts;
  for (const auto& result : record.benchmarks) {
    if (result.status == status) ++counts[printable(result.reason)];
  }
  std::vector<std::pair<std::string, size_t>> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  std::string text;
  for (size_t i = 0; i < std::min(sorted.size(), kReasonsShown); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", sorted[i].first, sorted[i].second);
  }
  if (sorted.size() > kReasonsShown) {
    text += fmt::format(", and {}", counted(sorted.size() - kReasonsShown, "other reason"));
  }
  return text;
}

std::string failures(const RunRecord& record, ConsoleOptions options) {
  std::string text;
  size_t shown = 0;
  size_t more = 0;
  for (const auto& result : record.benchmarks) {
    if (result.status != Status::failed && result.status != Status::timeout) continue;
    if (++shown > kFailuresShown) {
      ++more;
      continue;
    }
    text += paragraph(fmt::format("{} {}: {}", name_of(result.status), printable(result.id),
                                  printable(result.reason)),
                      Style::bad, options);
  }
  if (more > 0) text += paragraph(fmt::format("and {} more", more), Style::bad, options);
  return text;
}

}  // namespace

std::string paragraph(std::string_view text, Style style, ConsoleOptions options) {
  std::string result;
  for (const auto& line : wrapped(text, options.width, 4)) {
    result += styled(line, style, options.color) + "\n";
  }
  return result;
}

std::string run_heading(const RunRecord& record, ConsoleOptions options) {
  std::string text = printable(record.id.empty() ? "run" : record.id);
  const auto add = [&](const std::string& fact) { text += ", " + fact; };
  if (const auto& model = record.environment.cpu.model; !model.empty()) add(printable(model));
  if (!record.isa.empty()) add(printable(record.isa));
  add(counted(record.threads, "thread"));
  if (record.deterministic) add("deterministic");
  if (!record.git.commit.empty()) {
    add(fmt::format("commit {}{}", printable(record.git.commit).substr(0, 10),
                    record.git.dirty ? " with changes" : ""));
  }
  if (record.plan.samples > 0) {
    add(fmt::format("up to {} in {}", counted(record.plan.samples, "sample"),
                    counted(record.plan.rounds, "round")));
  }
  std::string result = paragraph(text, Style::plain, options);
  if (!record.complete) {
    result += paragraph("incomplete: the run was interrupted or is still going on", Style::doubtful,
                        options);
  }
  return result;
}

bool has_quiet_times(const RunRecord& record) {
  return std::ranges::any_of(record.benchmarks,
                             [](const auto& result) { return result.quiet.has_value(); });
}

std::string legend(const RunRecord& record, ConsoleOptions options) {
  if (count_of(record, Status::ok) == 0) return "";
  return paragraph(
      fmt::format("\u00B195 %: of the median; spread: 1.48 MAD; {}notes: d disturbed, r retaken, o "
                  "outliers, n= too few",
                  has_quiet_times(record) ? "quiet: while nobody else used the core; " : ""),
      Style::quiet, options);
}

std::string counts_and_failures(const RunRecord& record, ConsoleOptions options) {
  const size_t skipped = count_of(record, Status::skipped);
  const size_t failed = count_of(record, Status::failed);
  const size_t timeouts = count_of(record, Status::timeout);
  std::string counts = fmt::format("{} ok", count_of(record, Status::ok));
  const auto without = std::ranges::count_if(record.benchmarks, [](const BenchmarkResult& result) {
    return result.status == Status::ok && result.samples_ns.empty();
  });
  if (without > 0) counts += fmt::format(" ({} without samples)", without);
  if (failed > 0) counts += fmt::format(", {} failed", failed);
  if (timeouts > 0) counts += fmt::format(", {} timed out", timeouts);
  if (skipped > 0) {
    counts += fmt::format(", {} skipped: {}", skipped, grouped_reasons(record, Status::skipped));
  }
  return paragraph(counts, failed + timeouts > 0 ? Style::bad : Style::good, options) +
         failures(record, options);
}

std::string warnings_to_console(const std::vector<Warning>& warnings, ConsoleOptions options) {
  std::vector<std::string> codes;  // in the order of appearance
  for (const auto& warning : warnings) {
    if (std::ranges::find(codes, warning.code) == codes.end()) codes.push_back(warning.code);
  }
  std::string text;
  for (const auto& code : codes) {
    const Warning* first = nullptr;
    std::set<std::string> benchmarks;
    for (const auto& warning : warnings) {
      if (warning.code != code) continue;
      if (first == nullptr) first = &warning;
      if (!warning.benchmark.empty()) benchmarks.insert(warning.benchmark);
    }
    std::string line = fmt::format("warning: {}", printable(code));
    if (benchmarks.size() > 1) {
      line += fmt::format(" ({}), such as {}: {}", counted(benchmarks.size(), "benchmark"),
                          printable(first->benchmark), printable(first->message));
    } else if (benchmarks.size() == 1) {
      line += fmt::format(" in {}: {}", printable(*benchmarks.begin()), printable(first->message));
    } else {
      line += ": " + printable(first->message);
    }
    if (!first->advice.empty()) line += "; advice: " + printable(first->advice);
    text += paragraph(line, Style::doubtful, options);
  }
  return text;
}

}  // namespace trilobite
