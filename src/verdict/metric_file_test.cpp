#include "verdict/metric_file.hpp"

#include <gmock/gmock.h>

namespace trilobite::verdict {
namespace {

using testing::HasSubstr;

// Word for word what the second seed document prints.
constexpr const char* kBaselines = R"({
  "baselines": {
    "linux-x86_64": {
      "rust_implementation": {
        "throughput_tokens_per_second": 125.3,
        "latency_p50_ms": 89.2,
        "memory_usage_mb": 1024.5,
        "accuracy_score": 0.9987
      }
    }
  },
  "thresholds": {
    "critical": {
      "throughput_decrease_percent": 15.0,
      "latency_increase_percent": 25.0
    },
    "warning": {
      "throughput_decrease_percent": 8.0,
      "latency_increase_percent": 15.0
    }
  }
})";

RegressionReport compared(double tokens, double latency) {
  const auto baseline = parse_json(kBaselines).value();
  RegressionSettings settings;
  EXPECT_TRUE(apply_percent_thresholds(baseline.at("thresholds"), settings));
  const MetricTable current{{"rust_implementation",
                             {{"throughput_tokens_per_second", tokens},
                              {"latency_p50_ms", latency},
                              {"memory_usage_mb", 1024.5},
                              {"accuracy_score", 0.9987}}}};
  return compare_metrics(metrics_in(baseline, "linux-x86_64").value(), current, settings);
}

Level level_of(const RegressionReport& report, const std::string& metric) {
  for (const auto& verdict : report.verdicts)
    if (verdict.metric == metric) return verdict.level;
  return Level::undecided;
}

TEST(MetricFile, the_baselines_load_as_printed_with_their_thresholds) {
  EXPECT_EQ(compared(125, 90).status, Status::all_pass);
  const auto worse = compared(125.3 * 0.9, 89.2 * 1.3);
  EXPECT_EQ(level_of(worse, "throughput_tokens_per_second"), Level::warning);
  EXPECT_EQ(level_of(worse, "latency_p50_ms"), Level::critical);
  EXPECT_EQ(level_of(worse, "memory_usage_mb"), Level::stable);
  EXPECT_EQ(worse.status, Status::has_critical_regressions);
  EXPECT_EQ(level_of(compared(200, 89.2), "throughput_tokens_per_second"), Level::improvement);
  EXPECT_EQ(level_of(compared(125.3 * 0.95, 89.2), "throughput_tokens_per_second"), Level::stable);
}

TEST(MetricFile, percent_are_of_what_there_was) {
  EXPECT_EQ(level_of(compared(108.9, 89.2), "throughput_tokens_per_second"), Level::warning);
  EXPECT_EQ(level_of(compared(115.9, 89.2), "throughput_tokens_per_second"), Level::stable);
  EXPECT_EQ(level_of(compared(106.4, 89.2), "throughput_tokens_per_second"), Level::critical);
}

MetricVerdict compared(const std::string& metric, double before, double after,
                       const RegressionSettings& settings = {}) {
  const auto report =
      compare_metrics({{"x", {{metric, before}}}}, {{"x", {{metric, after}}}}, settings);
  return report.verdicts.empty() ? MetricVerdict() : report.verdicts[0];
}

TEST(MetricFile, names_tell_what_is_worse_and_where_they_do_not_nothing_is_claimed) {
  EXPECT_EQ(compared("cosine_similarity", 0.999, 0.5).answer, Answer::regressed);
  EXPECT_EQ(compared("exact_match_rate", 1, 0.2).answer, Answer::regressed);
  EXPECT_EQ(compared("gflops", 100, 50).answer, Answer::regressed);
  EXPECT_EQ(compared("error_rate", 0.1, 0.05).answer, Answer::improved);
  EXPECT_EQ(compared("frobs", 1, 2).answer, Answer::undecided);
  EXPECT_THAT(compared("frobs", 1, 2).note, HasSubstr("frobs_decrease_percent"));
  EXPECT_EQ(compared("frobs", 1, 1.01).answer, Answer::equivalent);
  RegressionSettings settings;
  const auto thresholds = parse_json(R"({"critical": {"frobs_decrease_percent": 10}})").value();
  ASSERT_TRUE(apply_percent_thresholds(thresholds, settings));
  EXPECT_EQ(compared("frobs", 2, 1, settings).answer, Answer::regressed);
}

TEST(MetricFile, a_time_of_nothing_is_no_measurement) {
  const auto report =
      compare_metrics({{"x", {{"latency_ms", 5}}}}, {{"x", {{"latency_ms", 0}}}}, {});
  EXPECT_EQ(report.status, Status::incomplete);
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_THAT(report.problems[0].what, HasSubstr("no measurement"));
}

TEST(MetricFile, a_missing_metric_is_never_stable) {
  const auto baseline = metrics_in(parse_json(kBaselines).value(), "linux-x86_64").value();
  const MetricTable current{{"rust_implementation", {{"latency_p50_ms", 89.2}}}};
  const auto report = compare_metrics(baseline, current, {});
  EXPECT_EQ(report.status, Status::incomplete);
  EXPECT_EQ(report.problems.size(), 3u);
  EXPECT_EQ(compare_metrics(baseline, {}, {}).status, Status::incomplete);
}

TEST(MetricFile, other_platforms_and_odd_files_are_named) {
  const auto json = parse_json(kBaselines).value();
  EXPECT_THAT(metrics_in(json, "wasm32").error().message(), HasSubstr("linux-x86_64"));
  EXPECT_FALSE(metrics_in(parse_json(R"({"baselines": []})").value(), "x"));
  EXPECT_FALSE(metrics_in(parse_json(R"({"a": {"latency_ms": -1}})").value(), "x"));
  EXPECT_FALSE(metrics_in(parse_json(R"({"a": {"b": {}}})").value(), "x"));
  EXPECT_TRUE(is_metric_file(json));
  EXPECT_FALSE(is_metric_file(parse_json(R"({"schema": "trilobite.record/1"})").value()));
  EXPECT_FALSE(is_metric_file(parse_json("[1]").value()));
}

TEST(MetricFile, a_record_is_told_in_the_same_words) {
  RunRecord record;
  BenchmarkResult result;
  result.id = "models/decode";
  result.throughput.tokens = 50;
  result.statistics = TimeStatistics{};
  result.statistics->p50 = 20e6;
  result.memory = MemoryUse{0, 5'000'000, 1};
  record.benchmarks.push_back(result);
  const auto table = metrics_of_record(record, "rust_implementation").value();
  const auto& metrics = table.at("rust_implementation");
  EXPECT_EQ(metrics.at("throughput_tokens_per_second"), 50);
  EXPECT_EQ(metrics.at("latency_p50_ms"), 20);
  EXPECT_EQ(metrics.at("memory_usage_mb"), 5);
  record.benchmarks.push_back(result);
  EXPECT_FALSE(metrics_of_record(record, "x"));
  record.benchmarks.clear();
  EXPECT_FALSE(metrics_of_record(record, "x"));
}

}  // namespace
}  // namespace trilobite::verdict
