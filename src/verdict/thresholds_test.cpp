#include "verdict/thresholds.hpp"

#include <gmock/gmock.h>

namespace trilobite::verdict {
namespace {

using testing::HasSubstr;

Result<RegressionSettings> read(std::string_view text) {
  return settings_from_json(parse_json(text).value(), {});
}

std::string error_of(std::string_view text) {
  const auto settings = read(text);
  return settings ? "no error" : settings.error().message();
}

// Word for word what the first seed document prints.
TEST(Thresholds, the_regression_configuration_loads_as_printed) {
  const auto settings = read(R"({
  "baseline_file": "performance_baselines.json",
  "regression_threshold": 0.05,
  "minimum_samples": 10,
  "confidence_level": 0.95,
  "alert_thresholds": {
    "warning": 0.05,
    "critical": 0.15
  },
  "auto_update_baseline": false
})")
                            .value();
  EXPECT_EQ(settings.baseline_file, "performance_baselines.json");
  EXPECT_EQ(settings.levels.least, 0.05);
  EXPECT_EQ(settings.levels.critical, 0.15);
  EXPECT_EQ(settings.minimum_samples, 10u);
  EXPECT_FALSE(settings.auto_update_baseline);
}

TEST(Thresholds, groups_and_percent_thresholds_override) {
  const auto settings = read(R"({"regression_threshold": 0.1,
    "groups": {"^kernels/": {"regression_threshold": 0.02, "alert_thresholds": {"critical": 0.3}}},
    "alerts": {"critical": {"latency_increase_percent": 25}, "warning": {"latency_increase_percent": 15}}})")
                            .value();
  EXPECT_EQ(settings.levels_for("kernels/x", "time").least, 0.02);
  EXPECT_EQ(settings.levels_for("kernels/x", "time").critical, 0.3);
  EXPECT_EQ(settings.levels_for("models/x", "time").least, 0.15);  // a latency too
  EXPECT_EQ(settings.levels_for("models/x", "memory_peak").least, 0.1);
  EXPECT_EQ(settings.levels_for("kernels/x", "latency_p95").least, 0.15);
  EXPECT_EQ(settings.levels_for("kernels/x", "latency_p95").critical, 0.25);
}

TEST(Thresholds, the_warning_of_alerts_is_the_threshold) {
  const auto settings =
      read(
          R"({"regression_threshold": 0.05, "alert_thresholds": {"warning": 0.1, "critical": 0.3}})")
          .value();
  EXPECT_EQ(settings.levels.least, 0.1);
  EXPECT_EQ(settings.levels.critical, 0.3);
}

TEST(Thresholds, the_most_specific_name_wins_and_times_are_latencies) {
  const auto settings = read(R"({"thresholds": {
    "warning": {"latency_increase_percent": 20, "latency_p95_increase_percent": 5},
    "critical": {"latency_increase_percent": 40, "latency_p95_increase_percent": 10}}})")
                            .value();
  EXPECT_EQ(settings.levels_for("x", "latency_p95_ms").critical, 0.1);
  EXPECT_EQ(settings.levels_for("x", "latency_p99").critical, 0.4);
  EXPECT_EQ(settings.levels_for("x", "time_quiet").least, 0.2);
  EXPECT_EQ(settings.levels_for("x", "memory_peak").least, 0.05);
}

TEST(Thresholds, accuracy_is_held_to_a_tenth_of_a_percent_unless_something_is_said_of_it) {
  EXPECT_EQ(read("{}")->levels_for("x", "accuracy_cosine").least, 0.001);
  const auto settings =
      read(R"({"thresholds": {"warning": {"accuracy_decrease_percent": 2}}})").value();
  EXPECT_EQ(settings.levels_for("x", "accuracy_cosine").least, 0.02);
}

TEST(Thresholds, what_is_wrong_is_named) {
  EXPECT_THAT(error_of("[]"), HasSubstr("object"));
  EXPECT_THAT(error_of(R"({"regresion_threshold": 1})"), HasSubstr("regresion_threshold"));
  EXPECT_THAT(error_of(R"({"regression_threshold": -1})"), HasSubstr("above 0"));
  EXPECT_THAT(error_of(R"({"confidence_level": 1})"), HasSubstr("confidence_level"));
  EXPECT_THAT(error_of(R"({"minimum_samples": 0})"), HasSubstr("minimum_samples"));
  EXPECT_THAT(error_of(R"({"alert_thresholds": {"warning": 0.5, "critical": 0.1}})"),
              HasSubstr("warning is above critical"));
  EXPECT_THAT(error_of(R"({"groups": {"(": {}}})"), HasSubstr("regular expression"));
  EXPECT_THAT(error_of(R"({"groups": []})"), HasSubstr("groups"));
  EXPECT_THAT(error_of(R"({"thresholds": {"critical": {"speed": 3}}})"), HasSubstr("speed"));
  EXPECT_THAT(error_of(R"({"thresholds": {"critical": 3}})"), HasSubstr("critical"));
  EXPECT_THAT(error_of(R"({"thresholds": {"critcal": {}}})"), HasSubstr("critcal"));
}

}  // namespace
}  // namespace trilobite::verdict
