#include "report/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/parse_number.hpp"
#include "report/csv_parser_for_test.hpp"
#include "report/display_text.hpp"
#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void add(RunRecord& record, const std::string& device, const std::string& shape, double ns,
         size_t samples = 20) {
  record.benchmarks.push_back(fixtures::measured({.device = device, .shape = shape},
                                                 fixtures::samples_around(ns, 0.04, samples)));
}

RunRecord run() {
  RunRecord record;
  record.id = "run-1";
  record.environment.cpu.model = "Example CPU";
  return record;
}

/// cpu is 1.3 times as fast as openblas at three sizes.
RunRecord clear_run() {
  auto record = run();
  for (const char* shape : {"64", "128", "256"}) {
    add(record, "openblas", shape, 1300);
    add(record, "cpu", shape, 1000);
  }
  return record;
}

TEST(Comparison, results_that_differ_only_in_their_device_are_one_group) {
  auto record = clear_run();
  add(record, "cpu", "512", 1000);
  record.benchmarks.back().parameters = {{"layout", "blocked"}};
  add(record, "openblas", "512", 1000);
  const auto comparison = compare_devices(record, "openblas");
  EXPECT_EQ(comparison.devices, (std::vector<std::string>{"openblas", "cpu"}));
  ASSERT_EQ(comparison.groups.size(), 5u);  // the last two differ in a parameter
  EXPECT_EQ(comparison.groups[0].entries.size(), 2u);
  EXPECT_EQ(comparison.groups[3].outcome, Outcome::one_device);
}

TEST(Comparison, speed_ups_refer_to_the_baseline_and_have_an_interval) {
  const auto comparison = compare_devices(clear_run(), "openblas");
  const auto& group = comparison.groups[0];
  EXPECT_EQ(entry_of(group, "openblas")->speedup->value, 1);
  const auto& speedup = *entry_of(group, "cpu")->speedup;
  EXPECT_NEAR(speedup.value, 1.3, 1e-9);
  EXPECT_GT(speedup.ci95.low, 1.25);
  EXPECT_LT(speedup.ci95.high, 1.35);
  const auto other_way = compare_devices(clear_run(), "cpu");
  EXPECT_NEAR(entry_of(other_way.groups[0], "openblas")->speedup->value, 1 / 1.3, 1e-9);
}

TEST(Comparison, the_winner_is_named_only_beyond_doubt) {
  auto record = run();
  add(record, "a", "clear", 1000);
  add(record, "b", "clear", 1100);
  add(record, "a", "close", 1000);
  add(record, "b", "close", 1001);
  add(record, "a", "few", 1000, 5);
  add(record, "b", "few", 2000, 5);
  const auto comparison = compare_devices(record, "a");
  EXPECT_EQ(comparison.groups[0].outcome, Outcome::winner);
  EXPECT_EQ(comparison.groups[0].fastest, "a");
  EXPECT_EQ(comparison.groups[1].outcome, Outcome::tie);
  EXPECT_EQ(comparison.groups[2].outcome, Outcome::few);
}

TEST(Comparison, a_device_that_failed_is_shown_and_never_wins) {
  auto record = run();
  record.benchmarks.push_back(
      fixtures::unmeasured({.device = "a"}, Status::failed, "wrong output"));
  add(record, "b", "64x64x64", 1000);
  const auto comparison = compare_devices(record, "a");
  ASSERT_EQ(comparison.groups.size(), 1u);
  EXPECT_EQ(comparison.groups[0].fastest, "b");
  EXPECT_EQ(comparison.groups[0].outcome, Outcome::one_device);
  EXPECT_FALSE(entry_of(comparison.groups[0], "b")->speedup);
  EXPECT_THAT(to_console(comparison, {}), HasSubstr("failed"));
}

TEST(Comparison, a_clear_case_is_recommended_with_its_numbers_and_evidence) {
  const auto comparison = compare_devices(clear_run(), "openblas");
  ASSERT_EQ(comparison.recommendations.size(), 1u);
  const auto& advice = comparison.recommendations[0];
  EXPECT_TRUE(advice.decisive);
  EXPECT_EQ(advice.device, "cpu");
  EXPECT_EQ(advice.groups, 3u);
  EXPECT_NEAR(advice.lead.value, 1.3, 1e-9);
  EXPECT_EQ(advice.evidence.size(), 6u);
  EXPECT_THAT(advice.text,
              ::testing::MatchesRegex("kernels/matmul f32: use cpu \\(1.30x as fast as openblas, "
                                      "95 % 1.[0-9]+-1.[0-9]+, geometric mean over 3 sizes\\)"));
}

TEST(Comparison, devices_that_cannot_be_told_apart_are_not_recommended) {
  auto record = run();
  add(record, "a", "64", 1000);
  add(record, "b", "64", 1001);
  const auto advice = compare_devices(record, "a").recommendations.at(0);
  EXPECT_FALSE(advice.decisive);
  EXPECT_THAT(advice.text, HasSubstr("a and b cannot be told apart"));
}

TEST(Comparison, too_few_samples_decide_nothing) {
  auto record = run();
  add(record, "a", "64", 1000, 3);
  add(record, "b", "64", 9000, 3);
  const auto comparison = compare_devices(record, "a");
  EXPECT_FALSE(comparison.recommendations.at(0).decisive);
  EXPECT_THAT(comparison.recommendations[0].text, HasSubstr("too few samples"));
  EXPECT_THAT(to_console(comparison, {}), HasSubstr("~0.11x"));
}

TEST(Comparison, classes_of_sizes_may_have_different_answers) {
  auto record = run();
  record.environment.cpu.caches = {
      {.level = 2, .type = "Unified", .size_bytes = 1 << 20, .shared_by = 1}};
  for (const auto& [shape, bytes, a, b] :
       {std::tuple{"small", 1e3, 1000.0, 2000.0}, {"large", 1e9, 2e6, 1e6}}) {
    add(record, "a", shape, a);
    record.benchmarks.back().work.bytes_read = bytes;
    add(record, "b", shape, b);
    record.benchmarks.back().work.bytes_read = bytes;
  }
  const auto comparison = compare_devices(record, "a");
  ASSERT_EQ(comparison.recommendations.size(), 3u);
  EXPECT_FALSE(comparison.recommendations[0].decisive);
  EXPECT_THAT(comparison.recommendations[0].text, HasSubstr("choose by size"));
  EXPECT_EQ(comparison.recommendations[1].sizes, "within L2");
  EXPECT_EQ(comparison.recommendations[1].device, "a");
  EXPECT_EQ(comparison.recommendations[2].sizes, "beyond the caches");
  EXPECT_EQ(comparison.recommendations[2].device, "b");
}

TEST(Comparison, a_device_that_ran_some_sizes_only_is_no_answer_for_all) {
  auto record = clear_run();
  add(record, "opencl", "256", 500);
  const auto advice = compare_devices(record, "openblas").recommendations.at(0);
  EXPECT_EQ(advice.device, "cpu");
  EXPECT_THAT(advice.text, HasSubstr("; opencl ran 1 of 3 sizes and is 2.00x as fast there"));
}

TEST(Comparison, a_baseline_that_was_not_measured_is_said) {
  const auto comparison = compare_devices(clear_run(), "cuda");
  EXPECT_FALSE(comparison.groups[0].entries[0].speedup);
  EXPECT_THAT(comparison.notes.at(0), HasSubstr("'cuda' has no results"));
  EXPECT_EQ(comparison.recommendations.at(0).device, "cpu");
}

TEST(Comparison, the_console_reads_like_this) {
  auto record = run();
  add(record, "openblas", "64", 1300);
  add(record, "cpu", "64", 1000);
  EXPECT_THAT(to_console(compare_devices(record, "openblas"), {.width = 100}),
              HasSubstr("case  fastest        openblas              cpu\n"
                        "kernels/matmul f32\n"
                        "  64  cpu      1.3 us   1.00x  *999 ns   1.30x\n"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Comparison, no_line_is_wider_than_the_terminal_and_missing_columns_are_named) {
  const auto comparison = compare_devices(clear_run(), "openblas");
  for (unsigned width = 1; width < 120; ++width) {
    for (const auto& line : lines_of(to_console(comparison, {.width = width}))) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
  EXPECT_THAT(to_console(comparison, {.width = 40}), HasSubstr("no room for cpu"));
}

TEST(Comparison, json_has_the_schema_and_the_same_numbers) {
  const auto comparison = compare_devices(clear_run(), "openblas");
  const auto json = to_json(comparison);
  EXPECT_EQ(json.at("schema"), "trilobite.comparison/1");
  EXPECT_EQ(json.at("groups").size(), 3u);
  const auto& entry = json.at("groups")[0].at("devices")[1];
  EXPECT_EQ(entry.at("speedup").at("value").get<double>(),
            comparison.groups[0].entries[1].speedup->value);
  EXPECT_EQ(json.at("groups")[0].at("outcome"), "winner");
  EXPECT_EQ(json.at("recommendations")[0].at("device"), "cpu");
}

TEST(Comparison, csv_reads_back_exactly) {
  const auto record = clear_run();
  const auto rows = fixtures::csv_records(to_csv(compare_devices(record, "openblas")));
  ASSERT_EQ(rows.size(), 6u);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("id"), record.benchmarks[i].id);
    EXPECT_EQ(parse_double(rows[i].at("median_ns")).value(),
              record.benchmarks[i].statistics->median);
  }
}

TEST(Comparison, markdown_marks_the_winner_and_escapes_names) {
  EXPECT_THAT(to_markdown(compare_devices(clear_run(), "openblas")),
              HasSubstr("| kernels/matmul | f32 | 64 | cpu | 1.3 us | **999 ns (1.30x, "));
  auto record = run();
  add(record, "<script>|*x*", "64", 1000);
  EXPECT_THAT(to_markdown(compare_devices(record, "cpu")), HasSubstr("&lt;script>\\|\\*x\\*"));
}

TEST(Comparison, empty_and_hostile_records_are_survived) {
  EXPECT_THAT(to_console(compare_devices(RunRecord(), "cpu"), {}), HasSubstr("no benchmarks"));
  EXPECT_TRUE(compare_devices(RunRecord(), "cpu").recommendations.empty());
  const auto comparison = compare_devices(fixtures::hostile_record(), "cpu");
  EXPECT_TRUE(parse_json(to_json(comparison).dump()));
  EXPECT_THAT(to_console(comparison, {}), Not(HasSubstr("\x1b")));
  for (const auto& row : fixtures::parse_csv(to_csv(comparison))) EXPECT_EQ(row.size(), 18u);
  for (const auto& line : lines_of(to_markdown(comparison))) {
    EXPECT_THAT(line, Not(HasSubstr("<script")));
  }
}

}  // namespace
}  // namespace trilobite
