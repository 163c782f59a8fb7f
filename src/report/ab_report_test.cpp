#include "report/ab_report.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;

AbReport example() {
  AbReport report{.base = "old", .candidate = "new"};
  verdict::AbVerdict slower;
  slower.benchmark = "a";
  slower.answer = verdict::Answer::regressed;
  slower.change = 0.02;
  slower.interval = {0.01, 0.03};
  slower.confirmed = true;
  verdict::AbVerdict open;
  open.benchmark = "b";
  open.interval = {-INFINITY, INFINITY};
  open.note = "withheld: the base differs from itself by +2.00 %";
  open.control_fired = true;
  report.verdicts = {slower, open};
  report.problems = {{"c", "candidate was killed by signal 11"}};
  return report;
}

TEST(AbReport, the_table_tells_answers_notes_and_problems) {
  const auto text = ab_table(example(), 0, false);
  EXPECT_THAT(text, HasSubstr("+2.0 %"));
  EXPECT_THAT(text, HasSubstr("confirmed"));
  EXPECT_THAT(text, HasSubstr("withheld"));
  EXPECT_THAT(text, HasSubstr("c: candidate was killed by signal 11"));
  EXPECT_THAT(text, HasSubstr("1 regressed, 0 improved, 0 equivalent, 1 undecided, 1 problem;"));
}

TEST(AbReport, json_has_all_of_it_and_no_infinity) {
  const auto json = parse_json(ab_json(example())).value();
  EXPECT_EQ(json.at("schema"), "trilobite.ab/1");
  EXPECT_EQ(json.at("verdicts")[0].at("answer"), "regressed");
  EXPECT_TRUE(json.at("verdicts")[1].at("interval")[0].is_null());
  EXPECT_TRUE(json.at("verdicts")[1].at("control_fired").get<bool>());
}

}  // namespace
}  // namespace trilobite
