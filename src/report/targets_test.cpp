#include "report/targets.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "base/json.hpp"
#include "report/findings.hpp"
#include "report/markdown.hpp"
#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;

Target wanted(double limit, bool at_least, std::optional<double> measured) {
  return {.name = "speed",
          .limit = limit,
          .at_least = at_least,
          .unit = "GB/s",
          .measured = measured,
          .reason = measured ? "" : "no device"};
}

TEST(Targets, the_limit_itself_is_met_from_below_and_missed_from_above) {
  EXPECT_EQ(outcome_of(wanted(10, true, 10)), TargetOutcome::met);
  EXPECT_EQ(outcome_of(wanted(10, true, 9.99)), TargetOutcome::missed);
  EXPECT_EQ(outcome_of(wanted(10, false, 10)), TargetOutcome::missed);
  EXPECT_EQ(outcome_of(wanted(10, false, 9.99)), TargetOutcome::met);
  EXPECT_EQ(outcome_of(wanted(10, true, std::nullopt)), TargetOutcome::unavailable);
}

TEST(Targets, texts_have_the_unit) {
  EXPECT_EQ(wanted_text(wanted(1.15, true, 2)), "at least 1.15 GB/s");
  EXPECT_EQ(wanted_text(wanted(5, false, 2)), "below 5 GB/s");
  EXPECT_EQ(measured_text(wanted(5, false, 2.3456)), "2.35 GB/s");
  EXPECT_EQ(measured_text(wanted(5, false, std::nullopt)), "-");
}

TEST(Targets, every_format_has_figure_outcome_and_reason) {
  auto data = report_data({{"run", RunRecord()}});
  data.targets = {wanted(10, true, 12.5), wanted(10, true, std::nullopt)};
  const auto json = parse_json(to_json_text(data.targets)).value()["targets"];
  EXPECT_EQ(json[0]["outcome"], "met");
  EXPECT_EQ(json[0]["measured"], 12.5);
  EXPECT_FALSE(json[0].contains("reason"));
  EXPECT_TRUE(json[1]["measured"].is_null());
  EXPECT_EQ(json[1]["reason"], "no device");
  const auto text = to_console(data.targets, {});
  EXPECT_THAT(text, HasSubstr("speed: unavailable, no device"));
  EXPECT_THAT(text, HasSubstr("12.5 GB/s"));
  const auto markdown = to_markdown(data);
  EXPECT_THAT(markdown, HasSubstr("| speed | at least 10 GB/s | 12.5 GB/s | met |  |"));
  EXPECT_THAT(markdown, HasSubstr("| unavailable | no device |"));
}

TEST(Targets, a_file_reads_back_and_a_bad_one_is_refused) {
  const std::vector<Target> targets{wanted(10, true, 12.5), wanted(1, false, std::nullopt)};
  const auto text = to_json_text(targets);
  const auto read = targets_from_json_text(text);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(to_json_text(*read), text);
  const auto refused = [&](const char* pointer, const Json& value) {
    auto json = parse_json(text).value();
    json[Json::json_pointer(pointer)] = value;
    const auto result = targets_from_json_text(json.dump());
    return result ? "accepted" : result.error().message();
  };
  EXPECT_THAT(refused("/schema", "trilobite.record/1"), HasSubstr("not targets"));
  EXPECT_THAT(refused("/targets", 3), HasSubstr("targets: must be"));
  EXPECT_THAT(refused("/targets/0", 3), HasSubstr("targets[0]"));
  EXPECT_THAT(refused("/targets/0/measured", nullptr), HasSubstr("targets[0].measured: needs"));
  EXPECT_THAT(refused("/targets/1/reason", ""), HasSubstr("targets[1].measured: needs"));
  EXPECT_THAT(refused("/targets/0/limit", "much"), HasSubstr("targets[0].limit"));
  EXPECT_FALSE(targets_from_json_text("[]"));
  EXPECT_FALSE(targets_from_json_text("{"));
}

TEST(Targets, those_given_and_those_of_benchmarks_stand_together_the_missed_first) {
  RunRecord record;
  record.benchmarks = {fixtures::measured({}, fixtures::samples_around(10, 0.01))};
  record.benchmarks[0].figures = {{"snr", std::numeric_limits<double>::quiet_NaN()},
                                  {"snr_at_least", 3}};
  auto data = report_data({{"run", record}});
  data.targets = {wanted(10, true, 12.5), wanted(10, true, 9)};
  const auto all = targets_of(data);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].measured, 9);
  EXPECT_EQ(all[1].measured, 12.5);
  EXPECT_EQ(all[2].benchmark, record.benchmarks[0].id);
  EXPECT_EQ(all[2].reason, "the figure is not finite");
}

}  // namespace
}  // namespace trilobite
