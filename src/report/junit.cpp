#include "report/junit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/duration.hpp"
#include "report/xml_text.hpp"

namespace trilobite {
namespace {

using Results = std::vector<const BenchmarkResult*>;

std::string outcome_of(const BenchmarkResult& result) {
  const auto reason = xml_text(result.reason);
  switch (result.status) {
    case Status::failed: return fmt::format("<failure message=\"{}\"/>", reason);
    case Status::timeout: return fmt::format("<error type=\"timeout\" message=\"{}\"/>", reason);
    case Status::skipped: return fmt::format("<skipped message=\"{}\"/>", reason);
    case Status::ok: break;
  }
  if (!result.statistics) return "<system-out>no samples</system-out>";
  const auto& s = *result.statistics;
  return fmt::format("<system-out>median {}, 95 % {} to {}, {} samples</system-out>",
                     human_time(s.median), human_time(s.median_ci95.low),
                     human_time(s.median_ci95.high), result.samples_ns.size());
}

std::string test_case(const BenchmarkResult& result) {
  const auto time = result.status == Status::ok && result.statistics
                        ? fmt::format(" time=\"{}\"", result.statistics->median / 1e9)
                        : std::string();
  return fmt::format("<testcase classname=\"{}\" name=\"{}\"{}>{}</testcase>\n",
                     xml_text(result.suite + "." + result.operation), xml_text(result.id), time,
                     outcome_of(result));
}

std::string test_suite(const std::string& name, const Results& results) {
  const auto count = [&](Status status) {
    return std::ranges::count(results, status,
                              [](const BenchmarkResult* result) { return result->status; });
  };
  auto text = fmt::format(
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
      xml_text(name), results.size(), count(Status::failed), count(Status::timeout),
      count(Status::skipped));
  for (const auto* result : results) text += test_case(*result);
  return text + "</testsuite>\n";
}

}  // namespace

std::string to_junit(const RunRecord& record) {
  std::map<std::string, Results> suites;
  for (const auto& result : record.benchmarks) suites[result.suite].push_back(&result);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [name, results] : suites) text += test_suite(name, results);
  return text + "</testsuites>\n";
}

}  // namespace trilobite
