#include "record/record_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace trilobite {
namespace {

BenchmarkResult good_result(const std::string& operation) {
  BenchmarkResult result;
  result.suite = "suite";
  result.operation = operation;
  result.dtype = "f32";
  result.device = "cpu";
  result.shape = "4x4";
  result.id = "suite/" + operation + "/f32/cpu/4x4";
  result.parameters = {{"layout", "dense"}};
  result.iterations_per_sample = 10;
  result.samples_ns = {1.25, 2.5, 3.0000000000000004};
  result.samples_per_round = {2, 1};
  result.disturbance.retaken = 2;
  result.statistics = TimeStatistics{
      .median = 2.5, .min = 1.25, .max = 3.0000000000000004, .median_ci95 = {1.25, 3}};
  result.quiet = QuietTime{.best_ns = 1.25,
                           .witness_ns = 6602,
                           .samples_ns = {1.25, 1.0, 1.5},
                           .samples_per_round = {3}};
  result.work = {.elements = 16, .bytes_read = 128, .bytes_written = 64, .flops = 16};
  result.throughput.flops = 6.4e9;
  result.limit =
      LimitShare{.limit = "f32 arithmetic", .value = 1e11, .unit = "op/s", .share = 0.064};
  result.memory = MemoryUse{.allocated_bytes = 64, .peak_bytes = 64, .allocations = 1};
  result.check = CheckOutcome{
      .reference = "reference", .max_error = 0, .tolerance = 1e-6, .cosine = 1.0, .passed = true};
  result.figures = {{"snr_db", 45.25}};
  result.kernels = {{"add/avx2", 12}};
  return result;
}

RunRecord good_record() {
  RunRecord record;
  record.id = "20260101T000000-1";
  record.started_at = "2026-01-01T00:00:00Z";
  record.command = {"trilobite", "bench"};
  record.version = "0.1.0";
  record.seed = 18446744073709551615ull;
  record.complete = true;
  record.environment.platform = "linux-x86_64";
  record.environment.fingerprint = "abc";
  record.environment.cpu.caches = {
      {.level = 1, .type = "Data", .size_bytes = 32768, .shared_by = 1}};
  record.environment.devices = {{"cpu", true, "ours"}};
  record.limits = MachineLimits{.fingerprint = "abc",
                                .measured_at = "2026-01-01T00:00:00Z",
                                .isa = "avx2",
                                .by_threads = {{.threads = 1,
                                                .bandwidth = {{.level = "L1", .read = 1e11}},
                                                .operations = {{"f32", 1e11}}}}};
  record.warnings = {{"virtualized", "a virtual machine", "use a real one", ""}};
  auto skipped = good_result("mul");
  skipped.status = Status::skipped;
  skipped.reason = "not supported";
  skipped.samples_ns.clear();
  skipped.samples_per_round.clear();
  skipped.statistics.reset();
  record.benchmarks = {good_result("add"), skipped};
  return record;
}

TEST(RecordJson, writing_and_reading_changes_nothing) {
  const auto text = to_json_text(good_record());
  const auto read = record_from_json_text(text);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(to_json_text(*read), text);
  EXPECT_EQ(read->benchmarks[0].samples_ns[2], 3.0000000000000004);
  EXPECT_EQ(read->seed, 18446744073709551615ull);
}

TEST(RecordJson, a_record_without_benchmarks_reads_back) {
  auto record = good_record();
  record.benchmarks.clear();
  EXPECT_TRUE(record_from_json_text(to_json_text(record)));
}

TEST(RecordJson, figures_keep_infinity_lose_nan_and_old_files_have_none) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto record = good_record();
  record.benchmarks[0].figures = {{"snr_db", kInfinity},
                                  {"log", -kInfinity},
                                  {"none", std::numeric_limits<double>::quiet_NaN()},
                                  {"ratio", 2}};
  auto json = parse_json(to_json_text(record)).value();
  EXPECT_EQ(json["benchmarks"][0]["figures"],
            parse_json(R"({"log": "-inf", "none": null, "ratio": 2.0, "snr_db": "inf"})").value());
  const auto figures = record_from_json_text(json.dump()).value().benchmarks[0].figures;
  EXPECT_EQ(figures.at("snr_db"), kInfinity);
  EXPECT_EQ(figures.at("log"), -kInfinity);
  EXPECT_TRUE(std::isnan(figures.at("none")));
  json["benchmarks"][0]["figures"]["ratio"] = "two";
  EXPECT_FALSE(record_from_json_text(json.dump()));
  json["benchmarks"][0].erase("figures");
  EXPECT_TRUE(record_from_json_text(json.dump()).value().benchmarks[0].figures.empty());
}

TEST(RecordJson, bytes_that_are_no_text_do_not_break_the_file) {
  auto record = good_record();
  record.command = {"trilobite", "\xff\xfe"};
  EXPECT_TRUE(record_from_json_text(to_json_text(record)));
}

std::string message_after(const std::function<void(Json&)>& damage) {
  Json json = parse_json(to_json_text(good_record())).value();
  damage(json);
  const auto read = record_from_json_text(json.dump());
  return read ? "accepted" : read.error().message();
}

TEST(RecordJson, a_newer_schema_is_refused_with_both_versions) {
  const auto message = message_after([](Json& json) { json["schema"] = "trilobite.record/2"; });
  EXPECT_EQ(message,
            "the record has schema trilobite.record/2, this program reads trilobite.record/1; use "
            "a newer "
            "Trilobite");
}

TEST(RecordJson, foreign_files_are_refused) {
  EXPECT_EQ(message_after([](Json& json) { json["schema"] = "other/1"; }),
            "not a Trilobite record: its schema is 'other/1'");
  EXPECT_EQ(message_after([](Json& json) { json.erase("schema"); }),
            "not a Trilobite record: it has no \"schema\"");
  EXPECT_FALSE(record_from_json_text("[]"));
  EXPECT_FALSE(record_from_json_text(""));
}

TEST(RecordJson, wrong_types_and_missing_members_are_named_with_their_place) {
  EXPECT_EQ(message_after([](Json& json) { json["benchmarks"][0]["samples_ns"] = "fast"; }),
            "benchmarks[0].samples_ns: must be a list of numbers, not text");
  EXPECT_EQ(message_after([](Json& json) { json["benchmarks"][1].erase("id"); }),
            "benchmarks[1].id: is missing");
  EXPECT_EQ(message_after([](Json& json) { json["benchmarks"][0]["status"] = "fine"; }),
            "benchmarks[0].status: 'fine' is none of ok, skipped, failed, timeout");
  EXPECT_EQ(message_after([](Json& json) { json["environment"] = 7; }),
            "environment: must be an object, not a number");
}

TEST(RecordJson, numbers_that_cannot_be_are_named_with_their_place) {
  EXPECT_EQ(message_after([](Json& json) { json["benchmarks"][0]["samples_per_round"][0] = 1.5; }),
            "benchmarks[0].samples_per_round: must be a list of whole numbers");
  EXPECT_EQ(message_after([](Json& json) { json["benchmarks"][0]["kernels"]["add/avx2"] = -1; }),
            "benchmarks[0].kernels.add/avx2: -1 is not between 0 and 9007199254740992");
  EXPECT_EQ(message_after([](Json& json) { json["threads"] = 0; }),
            "threads: 0 is not between 1 and 4294967295");
  EXPECT_EQ(message_after([](Json& json) { json["seed"] = "42"; }),
            "seed: must be a whole number, not text");
}

TEST(RecordJson, a_figure_that_does_not_exist_is_null_in_the_file_and_nan_in_memory) {
  auto record = good_record();
  record.environment.steal_share = std::numeric_limits<double>::quiet_NaN();
  const auto text = to_json_text(record);
  EXPECT_NE(text.find("\"steal_share\": null"), std::string::npos);
  EXPECT_TRUE(std::isnan(record_from_json_text(text).value().environment.steal_share));
}

TEST(RecordJson, inconsistent_records_are_not_believed) {
  const auto contains = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  contains(
      message_after([](Json& json) { json["benchmarks"][1]["id"] = json["benchmarks"][0]["id"]; }),
      "its parts");
  contains(message_after([](Json& json) { json["benchmarks"].push_back(json["benchmarks"][0]); }),
           "two benchmarks");
  contains(message_after([](Json& json) { json["benchmarks"][0]["samples_ns"][0] = -1; }),
           "positive and finite");
  contains(message_after(
               [](Json& json) { json["benchmarks"][0]["samples_per_round"] = Json::array({1}); }),
           "add up");
  contains(message_after([](Json& json) { json["benchmarks"][0]["statistics_ns"]["max"] = 99; }),
           "its samples");
  const auto quiet = [](Json& json) -> Json& { return json["benchmarks"][0]["quiet"]; };
  contains(message_after([&](Json& json) { quiet(json)["samples_ns"][0] = 0; }),
           "quiet: a sample of 0 ns");
  contains(message_after([&](Json& json) { quiet(json)["samples_per_round"] = {2}; }), "add up");
  contains(message_after([&](Json& json) { quiet(json)["best_ns"] = 7; }), "outside its samples");
  contains(message_after([&](Json& json) { quiet(json)["witness_ns"] = 0; }), "a witness of 0 ns");
  contains(message_after([](Json& json) { json["benchmarks"][0]["check"]["passed"] = false; }),
           "did not pass");
  contains(message_after([](Json& json) { json["benchmarks"][1].erase("reason"); }),
           "without a reason");
}

TEST(RecordJson, a_result_may_be_a_summary_or_have_no_time_at_all) {
  const auto without_samples = [](Json& json) {
    auto& result = json["benchmarks"][0];
    result["samples_ns"] = Json::array();
    result["samples_per_round"] = Json::array();
    result["iterations_per_sample"] = 0;
  };
  const auto damaged = [&](const std::function<void(Json&)>& damage) {
    return message_after([&](Json& json) {
      without_samples(json);
      damage(json["benchmarks"][0]["statistics_ns"]);
    });
  };
  EXPECT_EQ(message_after(without_samples), "accepted");
  EXPECT_EQ(damaged([](Json& statistics) { statistics = nullptr; }), "accepted");
  EXPECT_NE(damaged([](Json& statistics) { statistics["median"] = 0; }).find("positive and finite"),
            std::string::npos);
  EXPECT_NE(damaged([](Json& statistics) { statistics["median"] = 99; }).find("outside its"),
            std::string::npos);
}

TEST(RecordJson, every_truncation_is_an_error_and_never_a_crash) {
  const auto text = to_json_text(good_record());
  for (size_t length = 0; length + 2 < text.size(); length += 7) {
    EXPECT_FALSE(record_from_json_text(text.substr(0, length))) << length;
  }
}

}  // namespace
}  // namespace trilobite
