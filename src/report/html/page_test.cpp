#include "report/html/page.hpp"

#include <gmock/gmock.h>

#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string page_of(const RunRecord& record) { return to_html(report_data({{"run", record}})); }

/// Every opened element is closed, in order: what a browser would repair silently.
std::string first_problem(const std::string& page) {
  const auto end_of_body = page.find("<script>");
  std::vector<std::string> open;
  for (auto at = page.find("<body>"); at < end_of_body; at = page.find('<', at + 1)) {
    const auto tag = page.substr(at + 1, page.find('>', at) - at - 1);
    const bool closes = tag.starts_with('/');
    const auto name = tag.substr(closes ? 1 : 0, tag.find_first_of(" /", 1) - (closes ? 1 : 0));
    if (tag.ends_with('/') || name == "br" || name == "wbr" || name == "input") continue;
    if (!closes) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open == std::vector<std::string>{"body"} ? "" : "left open";
}

RunRecord only_failures() {
  RunRecord record;
  record.benchmarks = {fixtures::unmeasured({}, Status::failed, "wrong output"),
                       fixtures::unmeasured({.shape = "8"}, Status::timeout, "took too long")};
  return record;
}

RunRecord without_samples() {
  RunRecord record;
  record.benchmarks = {fixtures::measured({}, fixtures::samples_around(100, 0.1))};
  record.benchmarks[0].samples_ns.clear();
  return record;
}

RunRecord without_time() {
  auto record = without_samples();
  record.benchmarks[0].statistics.reset();
  return record;
}

RunRecord single() {
  RunRecord record;
  record.benchmarks = {fixtures::measured({}, {100})};
  return record;
}

TEST(HtmlPage, every_kind_of_record_makes_a_well_formed_page) {
  for (const auto& record : {RunRecord(), only_failures(), without_samples(), without_time(),
                             single(), fixtures::small_record(), fixtures::hostile_record()}) {
    const auto page = page_of(record);
    EXPECT_EQ(first_problem(page), "");
    EXPECT_THAT(page, HasSubstr("id=\"summary\""));
    EXPECT_THAT(page, HasSubstr("id=\"environment\""));
  }
}

TEST(HtmlPage, poor_records_say_what_is_missing) {
  EXPECT_THAT(page_of({}), HasSubstr("The record holds no benchmarks"));
  EXPECT_THAT(page_of(only_failures()), HasSubstr("2 failed or timed out"));
  EXPECT_THAT(page_of(only_failures()), HasSubstr("wrong output"));
  EXPECT_THAT(page_of(without_samples()), HasSubstr("No samples"));
  EXPECT_THAT(page_of(without_samples()),
              HasSubstr("A summary without its samples; median 99.8 ns"));
  EXPECT_THAT(page_of(without_time()), HasSubstr("<span class=\"small\">no samples</span>"));
  EXPECT_THAT(page_of(without_time()), HasSubstr("0 of 1 benchmarks were measured"));
}

TEST(HtmlPage, a_quiet_time_is_told_with_its_samples) {
  auto record = single();
  EXPECT_THAT(page_of(record), Not(HasSubstr("Quiet: ")));
  record.benchmarks[0].quiet = QuietTime{.best_ns = 90,
                                         .witness_ns = 6800,
                                         .samples_ns = {90, 91, 92, 93},
                                         .samples_per_round = {3, 1}};
  EXPECT_THAT(page_of(record),
              HasSubstr("Quiet: 90 ns, the best of 2 rounds with 4 short samples"));
}

TEST(HtmlPage, targets_are_in_the_summary_with_figure_and_reason) {
  auto data = report_data({{"run", single()}});
  data.targets = {{.name = "speed <1>", .limit = 100, .unit = "GB/s", .measured = 99.5},
                  {.name = "hits", .limit = 90, .unit = "%", .reason = "no <counters>"},
                  {.name = "waste", .limit = 5, .at_least = false, .unit = "", .measured = 1.5}};
  const auto page = to_html(data);
  EXPECT_EQ(first_problem(page), "");
  EXPECT_THAT(page, HasSubstr("Of 3 targets: 1 met, 1 missed, 1 unavailable."));
  EXPECT_THAT(page, HasSubstr("speed &lt;1&gt;: 99.5 GB/s, wanted at least 100 GB/s."));
  EXPECT_THAT(page, HasSubstr("no &lt;counters&gt;"));
  EXPECT_THAT(page, HasSubstr("below 5"));
  EXPECT_THAT(page_of(single()), Not(HasSubstr("Targets")));
}

TEST(HtmlPage, a_very_large_record_says_how_its_intervals_came_about) {
  RunRecord record;
  for (const char* device : {"cpu", "other"})
    record.benchmarks.push_back(fixtures::measured(
        {.device = device}, fixtures::samples_around(100, 0.1, kMostResampled / 2 + 1)));
  EXPECT_THAT(to_html(report_data({{"run", record}}), {.sections = {"comparison"}}),
              HasSubstr("Note: so many samples are not resampled"));
}

TEST(HtmlPage, names_are_shown_as_text) {
  const auto page = page_of(fixtures::hostile_record());
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert"));
  EXPECT_THAT(page, Not(HasSubstr("\u202E")));
}

TEST(HtmlPage, refers_to_nothing_outside) {
  const auto page = page_of(fixtures::small_record());
  for (const char* what : {"http://", "https://", "src=", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(what)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(HtmlPage, sections_can_be_chosen_and_say_why_they_are_empty) {
  const auto data = report_data({{"run", fixtures::small_record()}});
  const auto page = to_html(data, {.sections = {"regression", "summary"}});
  EXPECT_THAT(page, HasSubstr("No baseline was given"));
  EXPECT_LT(page.find("id=\"regression\""), page.find("id=\"summary\""));
  EXPECT_THAT(page, Not(HasSubstr("id=\"benchmarks\"")));
}

TEST(HtmlPage, unknown_sections_are_refused_with_the_names_there_are) {
  EXPECT_TRUE(check_sections({"summary", "method"}));
  const auto refused = check_sections({"sumary"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("'sumary'; there are summary, "));
}

TEST(HtmlPage, verdicts_and_history_appear_when_they_are_known) {
  auto data = report_data({{"run", fixtures::small_record()}});
  data.regression = verdict::RegressionReport{.baseline_name = "stable <1>"};
  data.regression->verdicts = {{.benchmark = data.joined.benchmarks[0].id,
                                .metric = "time",
                                .unit = "ns",
                                .answer = verdict::Answer::regressed,
                                .level = verdict::Level::critical,
                                .change = 0.2,
                                .interval = {0.15, 0.25}}};
  verdict::Series series{.name = "kernels/matmul", .unit = "ns", .points = {}};
  for (size_t i = 0; i < 40; ++i)
    series.points.push_back(
        {.index = i, .value = i < 20 ? 10.0 : 12.0, .time = "t", .commit = "c"});
  data.trends = {verdict::analyse_trend(series, nullptr, {})};
  const auto page = to_html(data);
  EXPECT_EQ(first_problem(page), "");
  EXPECT_THAT(page, HasSubstr("stable &lt;1&gt;"));
  EXPECT_THAT(page, HasSubstr("1 regressed"));
  EXPECT_THAT(page, HasSubstr("id=\"history\""));
  EXPECT_THAT(page, HasSubstr("+20 %"));
}

}  // namespace
}  // namespace trilobite
