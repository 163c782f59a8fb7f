#include "report/regression_report.hpp"

#include <gmock/gmock.h>

#include "base/json.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;
using testing::Not;
using verdict::Answer;
using verdict::Level;

verdict::RegressionReport example() {
  verdict::RegressionReport report;
  report.baseline_name = "v1";
  report.current_name = "now";
  report.status = verdict::Status::has_regressions;
  verdict::MetricVerdict stable;
  stable.benchmark = "a|b<c>";
  stable.metric = "time", stable.unit = "ns";
  stable.answer = Answer::equivalent, stable.level = Level::stable;
  stable.baseline = 100, stable.current = 101, stable.change = 0.01;
  stable.interval = {-0.01, 0.03};
  auto worse = stable;
  worse.metric = "memory_peak", worse.unit = "bytes";
  worse.answer = Answer::regressed, worse.level = Level::warning;
  worse.change = 0.08;
  auto open = stable;
  open.metric = "latency_p95";
  open.answer = Answer::undecided, open.level = Level::undecided;
  open.further_samples = 90;
  open.further_runs = 3;
  open.note = "runs vary by 4.0 %";
  report.verdicts = {stable, worse, open};
  report.problems = {{"gone", "missing: somewhere", false}};
  report.remarks = {"one run only"};
  return report;
}

TEST(RegressionReport, the_table_begins_with_the_worst_and_hides_nothing) {
  const auto text = regression_table(example(), 0, false);
  EXPECT_LT(text.find("WARNING"), text.find("STABLE"));
  EXPECT_THAT(text, HasSubstr("about 3 more runs decide"));
  EXPECT_THAT(text, HasSubstr("gone missing: somewhere"));
  EXPECT_THAT(text, HasSubstr("HasRegressions: 1 regressed, 0 improved, 1 equivalent, 1 undecided, "
                              "1 problem"));
}

TEST(RegressionReport, json_has_all_of_it) {
  const auto json = parse_json(regression_json(example())).value();
  EXPECT_EQ(json.at("schema"), "trilobite.regression/1");
  EXPECT_EQ(json.at("status"), "HasRegressions");
  EXPECT_EQ(json.at("verdicts").size(), 3u);
  EXPECT_EQ(json.at("verdicts")[2].at("further_samples"), 90);
  EXPECT_EQ(json.at("problems")[0].at("benchmark"), "gone");
}

TEST(RegressionReport, junit_counts_and_escapes) {
  const auto text = regression_junit(example());
  EXPECT_THAT(text, HasSubstr("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""));
  EXPECT_THAT(text, HasSubstr("a|b&lt;c&gt;"));
  EXPECT_THAT(text, HasSubstr("<failure type=\"WARNING\""));
}

TEST(RegressionReport, markdown_cells_cannot_break_the_table) {
  const auto text = regression_markdown(example());
  EXPECT_THAT(text, HasSubstr("a\\|b"));
  EXPECT_THAT(text, Not(HasSubstr("<c>")));
}

}  // namespace
}  // namespace trilobite
