#include "report/ci_report.hpp"

#include <gmock/gmock.h>

#include "base/json.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;
using testing::Not;
using verdict::Answer;

CiResult result_with(std::vector<std::pair<Answer, double>> answers) {
  CiResult result;
  result.base = {"main", std::string(40, 'a'), "before"};
  result.head = {"topic", std::string(40, 'b'), "a <b>bold</b> | change"};
  result.machine = "Example CPU";
  for (const auto& [answer, change] : answers) {
    verdict::AbVerdict verdict;
    verdict.benchmark = "kernels/add" + std::to_string(result.ab.verdicts.size());
    verdict.answer = answer;
    verdict.change = change;
    verdict.interval = {change - 0.01, change + 0.01};
    result.ab.verdicts.push_back(verdict);
  }
  return result;
}

TEST(CiReport, the_status_is_the_worst_that_is_in_it) {
  EXPECT_EQ(status_of(result_with({})), CiStatus::pass);
  EXPECT_EQ(status_of(result_with({{Answer::equivalent, 0}, {Answer::undecided, 0.3}})),
            CiStatus::pass);
  EXPECT_EQ(status_of(result_with({{Answer::regressed, 0.1}})), CiStatus::regressed);
  auto failed = result_with({{Answer::regressed, 0.1}});
  failed.ab.problems = {{"kernels/mul", "the program ended"}};
  EXPECT_EQ(status_of(failed), CiStatus::failed);
  failed.ab.verdicts[0].change = 0.2;
  EXPECT_EQ(status_of(failed), CiStatus::critical);
}

TEST(CiReport, all_forms_name_the_worst_first) {
  const auto result = result_with({{Answer::equivalent, 0},
                                   {Answer::regressed, 0.08},
                                   {Answer::regressed, 0.31},
                                   {Answer::undecided, 0.02}});
  EXPECT_THAT(ci_headline(result),
              HasSubstr("2 regressed (worst +31 %: kernels/add2), 0 improved"));
  const auto markdown = ci_markdown(result);
  EXPECT_THAT(markdown, HasSubstr("## Performance: critical"));
  EXPECT_LT(markdown.find("| kernels/add2 | **critical**"),
            markdown.find("| kernels/add1 | **regressed**"));
  EXPECT_THAT(markdown, HasSubstr("<summary>1 equivalent</summary>"));
  EXPECT_THAT(markdown, Not(HasSubstr("<b>")));
  const auto json = parse_json(ci_json(result)).value();
  EXPECT_EQ(json["status"], "critical");
  EXPECT_EQ(json["ab"]["verdicts"].size(), 4u);
  const auto junit = ci_junit(result);
  EXPECT_THAT(junit, HasSubstr("tests=\"4\" failures=\"2\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(junit, HasSubstr("<failure type=\"critical\" message=\"critical: +31 %"));
}

TEST(CiReport, problems_are_errors) {
  auto result = result_with({});
  result.ab.problems = {{"kernels/<mul>", "the head lacks it"}};
  EXPECT_THAT(ci_junit(result),
              HasSubstr("name=\"kernels/&lt;mul&gt;\"><error message=\"the head"));
  EXPECT_THAT(ci_markdown(result), HasSubstr("- kernels/&lt;mul>: the head lacks it"));
}

}  // namespace
}  // namespace trilobite
