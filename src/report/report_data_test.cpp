#include "report/report_data.hpp"

#include <gmock/gmock.h>

#include "report/findings.hpp"
#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

RunRecord one_benchmark(double ns) {
  RunRecord record;
  record.id = "run";
  record.complete = true;
  record.benchmarks = {fixtures::measured({}, fixtures::samples_around(ns, 0.01))};
  return record;
}

TEST(ReportData, runs_with_different_benchmarks_are_put_together) {
  auto other = one_benchmark(5);
  other.benchmarks = {fixtures::measured({.operation = "add"}, fixtures::samples_around(5, 0.01))};
  const auto data = report_data({{"a", one_benchmark(10)}, {"b", other}});
  EXPECT_THAT(data.facets.devices, ElementsAre("cpu"));
  EXPECT_THAT(data.source_of, ElementsAre(0, 1));
}

TEST(ReportData, the_same_benchmark_of_two_runs_is_compared_as_two_devices) {
  const auto data = report_data({{"old", one_benchmark(20)}, {"new", one_benchmark(10)}});
  EXPECT_THAT(data.facets.devices, ElementsAre("cpu @old", "cpu @new"));
  ASSERT_EQ(data.comparison.groups.size(), 1u);
  EXPECT_EQ(data.comparison.groups[0].fastest, "cpu @new");
  EXPECT_NEAR(data.comparison.groups[0].lead->value, 2, 0.05);
  EXPECT_TRUE(data.index.contains("kernels/matmul/f32/cpu @new/64x64x64"));
}

TEST(ReportData, facets_are_numbers_of_suite_device_and_type) {
  const auto data = report_data({{"a", fixtures::small_record()}});
  EXPECT_EQ(data.facets.of(data.joined.benchmarks[1]), "0 1 0");
}

TEST(Findings, an_empty_record_says_so) {
  const auto all = findings(report_data({{"a", RunRecord()}}));
  ASSERT_FALSE(all.empty());
  EXPECT_THAT(all[0].text, HasSubstr("holds no benchmarks"));
}

TEST(Findings, failures_doubts_and_limits_are_told_with_their_benchmarks) {
  const auto all = findings(report_data({{"a", fixtures::small_record()}}));
  const auto told = [&](FindingKind kind, const std::string& text) {
    EXPECT_THAT(all, Contains(testing::AllOf(Field(&Finding::kind, kind),
                                             Field(&Finding::text, HasSubstr(text)))));
  };
  told(FindingKind::fact, "2 of 5 benchmarks were measured");
  told(FindingKind::worst, "2 failed or timed out");
  told(FindingKind::best, "71 % of f32 arithmetic, 2 threads");
  told(FindingKind::doubt, "Fewer than six samples, too few for a 95 % interval: 1 benchmark.");
  told(FindingKind::doubt, "2 samples were disturbed");
  told(FindingKind::doubt, "changes that are not in its commit");
  told(FindingKind::doubt, "This is a kvm. Advice: use a dedicated machine.");
}

TEST(Findings, a_share_of_a_doubted_limit_is_no_finding) {
  const auto tells_a_share = [](const RunRecord& record) {
    return std::ranges::any_of(findings(report_data({{"a", record}})), [](const Finding& finding) {
      return finding.text.contains("what the machine can do");
    });
  };
  auto record = fixtures::small_record();
  EXPECT_TRUE(tells_a_share(record));
  for (const auto& result : record.benchmarks)
    record.warnings.push_back({"above-limit", "much faster", "", result.id});
  EXPECT_FALSE(tells_a_share(record));
}

TEST(Findings, a_figure_with_a_target_is_met_or_missed) {
  auto record = one_benchmark(10);
  record.benchmarks[0].figures = {{"gflops", 90},
                                  {"gflops_at_least", 100},
                                  {"overhead", 0.5},
                                  {"overhead_below", 1},
                                  {"nothing_at_least", 3}};
  const auto all = target_findings(report_data({{"a", record}}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kind, FindingKind::target_missed);
  EXPECT_EQ(all[0].text, "Of 2 targets: 1 met, 1 missed, 0 unavailable.");
  EXPECT_EQ(all[1].text, "gflops: 90, wanted at least 100.");
  EXPECT_THAT(all[1].evidence, ElementsAre(record.benchmarks[0].id));
}

TEST(Findings, results_without_samples_are_doubts_and_decide_nothing) {
  auto record = one_benchmark(10);
  record.benchmarks.push_back(
      fixtures::measured({.device = "fast"}, fixtures::samples_around(5, 0.01)));
  record.benchmarks.push_back(
      fixtures::measured({.operation = "add"}, fixtures::samples_around(5, 0.01)));
  for (auto& result : record.benchmarks) {
    result.samples_ns.clear();
    result.samples_per_round.clear();
  }
  record.benchmarks[2].statistics.reset();
  const auto data = report_data({{"a", record}});
  std::vector<std::string> texts;
  for (const auto& finding : findings(data)) texts.push_back(finding.text);
  EXPECT_THAT(texts, Contains(HasSubstr("2 of 3 benchmarks were measured")));
  EXPECT_THAT(texts, Contains(HasSubstr("A summary without its samples: 2 benchmarks.")));
  EXPECT_THAT(texts, Contains(HasSubstr("Neither samples nor a summary of them: 1 benchmark ")));
  for (const auto& group : data.comparison.groups) {
    EXPECT_NE(group.outcome, Outcome::winner);
    EXPECT_FALSE(group.lead.has_value());
  }
}

}  // namespace
}  // namespace trilobite
