#include "record/baseline.hpp"

#include <gmock/gmock.h>

#include "record/record_json.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;

RunRecord run(const std::string& id, const std::string& machine = "m") {
  RunRecord record;
  record.id = id;
  record.environment.fingerprint = machine;
  BenchmarkResult result;
  result.id = "s/o/f32/cpu/1";
  result.suite = "s", result.operation = "o", result.dtype = "f32", result.device = "cpu";
  result.shape = "1";
  result.iterations_per_sample = 1;
  result.samples_ns = {1, 2, 3};
  result.samples_per_round = {3};
  result.statistics = TimeStatistics{.median = 2, .mean = 2, .min = 1, .max = 3};
  record.benchmarks.push_back(result);
  return record;
}

Baseline example() {
  auto baseline = baseline_of(run("r1"));
  baseline.id = "v1.0.0";
  baseline.description = "first \"stable\"";
  baseline.tags = {"a", "b"};
  baseline.runs.push_back(run("r2"));
  return baseline;
}

std::string problem_of(const Baseline& baseline) {
  const auto checked = check_baseline(baseline);
  return checked ? "sound" : checked.error().message();
}

TEST(Baseline, comes_back_from_its_file_as_it_was) {
  const auto text = to_json_text(example());
  EXPECT_EQ(to_json_text(baseline_from_json_text(text).value()), text);
}

TEST(Baseline, needs_a_name_runs_and_samples_of_one_machine) {
  EXPECT_EQ(problem_of(example()), "sound");
  auto baseline = example();
  baseline.id = "../etc";
  EXPECT_THAT(problem_of(baseline), HasSubstr("'../etc'"));
  baseline = example();
  baseline.runs.clear();
  EXPECT_THAT(problem_of(baseline), HasSubstr("at least one run"));
  baseline = example();
  baseline.runs.push_back(run("r1"));
  EXPECT_THAT(problem_of(baseline), HasSubstr("twice"));
  baseline = example();
  baseline.runs.push_back(run("r3", "other"));
  EXPECT_THAT(problem_of(baseline), HasSubstr("another machine"));
  baseline = example();
  for (auto& one : baseline.runs) one.benchmarks.clear();
  EXPECT_THAT(problem_of(baseline), HasSubstr("samples"));
}

TEST(Baseline, files_that_are_none_are_one_sentence) {
  const auto error_of = [](std::string_view text) {
    const auto baseline = baseline_from_json_text(text);
    return baseline ? "no error" : baseline.error().message();
  };
  EXPECT_THAT(error_of("{"), HasSubstr("line"));
  EXPECT_THAT(error_of("[]"), HasSubstr("not a baseline"));
  EXPECT_THAT(error_of(R"({"schema": "trilobite.baseline/2"})"), HasSubstr("newer"));
  EXPECT_THAT(error_of(R"({"schema": "trilobite.record/1"})"), HasSubstr("not that of"));
  EXPECT_THAT(error_of(R"({"schema": "trilobite.baseline/1", "id": "x"})"), HasSubstr("runs"));
  EXPECT_THAT(error_of(R"({"schema": "trilobite.baseline/1", "id": "x", "runs": [{}]})"),
              HasSubstr("run 1"));
  EXPECT_THAT(error_of(R"({"schema": "trilobite.baseline/1", "id": "x", "runs": []})"),
              HasSubstr("at least one run"));
  const auto whole = to_json_text(example());
  for (size_t cut = 0; cut < whole.size() - 2; cut += 97)
    EXPECT_NE(error_of(whole.substr(0, cut)), "no error");
}

}  // namespace
}  // namespace trilobite
