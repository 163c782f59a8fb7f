#include "report/gbench.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.hpp"
#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

Json parsed(const RunRecord& record) {
  const auto json = parse_json(to_gbench(record));
  EXPECT_TRUE(json) << json.error().message();
  return json.value_or(Json::object());
}

void expect_keys(const Json& json, std::initializer_list<const char*> keys) {
  for (const char* key : keys) EXPECT_TRUE(json.contains(key)) << key;
}

// The keys that Google Benchmark 1.7.1 writes for the same kinds of entry. Of its context we have
// no host_name and mhz_per_cpu.
TEST(Gbench, entries_have_the_keys_of_google_benchmark) {
  const auto json = parsed(fixtures::small_record());
  expect_keys(json.at("context"),
              {"date", "executable", "num_cpus", "caches", "load_avg", "library_build_type"});
  const auto& list = json.at("benchmarks");
  ASSERT_EQ(list.size(), 20u + 3 + 1 + 3 + 3 + 1 + 1);
  const auto all = {"name",     "family_index", "per_family_instance_index",
                    "run_name", "run_type",     "repetitions",
                    "threads",  "iterations",   "real_time",
                    "cpu_time", "time_unit"};
  for (const auto& entry : list) expect_keys(entry, all);
  expect_keys(list[0], {"repetition_index", "bytes_per_second", "label"});
  expect_keys(list[20], {"aggregate_name", "aggregate_unit"});
  expect_keys(list[23], {"error_occurred", "error_message", "repetition_index"});
}

TEST(Gbench, samples_and_aggregates_are_the_records_numbers) {
  const auto record = fixtures::small_record();
  const auto list = parsed(record).at("benchmarks");
  const auto& result = record.benchmarks[0];
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(list[i].at("real_time").get<double>(), result.samples_ns[i]);
    EXPECT_EQ(list[i].at("run_type"), "iteration");
    EXPECT_EQ(list[i].at("repetition_index"), i);
  }
  EXPECT_EQ(list[20].at("name"), result.id + "_mean");
  EXPECT_EQ(list[20].at("real_time").get<double>(), result.statistics->mean);
  EXPECT_EQ(list[21].at("name"), result.id + "_median");
  EXPECT_EQ(list[21].at("real_time").get<double>(), result.statistics->median);
  EXPECT_DOUBLE_EQ(list[21].at("flops_per_second").get<double>(), result.throughput.flops);
  EXPECT_EQ(list[22].at("name"), result.id + "_stddev");
  EXPECT_EQ(list[22].at("real_time").get<double>(), result.statistics->sd);
}

TEST(Gbench, what_was_not_measured_is_an_error_with_its_reason) {
  const auto list = parsed(fixtures::small_record()).at("benchmarks");
  EXPECT_EQ(list[23].at("error_message"), "skipped: openblas has no f32 matmul here");
  EXPECT_EQ(list[23].at("skipped"), true);
  EXPECT_EQ(list[31].at("error_message"), "timeout: took over 60 s");
  EXPECT_FALSE(list[31].contains("skipped"));
}

TEST(Gbench, cases_of_one_operation_are_one_family) {
  const auto list = parsed(fixtures::small_record()).at("benchmarks");
  EXPECT_EQ(list[0].at("family_index"), list[23].at("family_index"));
  EXPECT_EQ(list[23].at("per_family_instance_index"), 1);
  EXPECT_NE(list[0].at("family_index"), list[24].at("family_index"));
}

TEST(Gbench, hostile_names_and_missing_figures_are_still_json) {
  auto record = fixtures::hostile_record();
  record.benchmarks[0].statistics->sd = NAN;
  record.benchmarks[0].statistics->mean = INFINITY;
  record.environment.load_at_start = NAN;
  const auto json = parsed(record);
  EXPECT_TRUE(json.at("benchmarks")[20].at("real_time").is_null());
}

TEST(Gbench, an_empty_record_is_an_empty_list) {
  EXPECT_TRUE(parsed(RunRecord()).at("benchmarks").empty());
}

}  // namespace
}  // namespace trilobite
