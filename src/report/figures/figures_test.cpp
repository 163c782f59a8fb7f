#include "report/figures/figures.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "report/records_for_test.hpp"

namespace trilobite::figures {
namespace {

using testing::HasSubstr;

/// Two devices, three sizes, two batches; the cpu is ten times as fast.
ReportData example() {
  RunRecord record;
  record.id = "run";
  record.threads = 2;
  for (const char* device : {"reference", "cpu"}) {
    for (const int size : {64, 128, 256}) {
      for (const char* batch : {"1", "8"}) {
        const double ns = size * size * (std::string(device) == "cpu" ? 1.0 : 10.0);
        auto result =
            fixtures::measured({.device = device, .shape = fmt::format("{}x{}", size, size)},
                               fixtures::samples_around(ns, 0.01));
        result.parameters = {{"batch", batch}};
        result.id += fmt::format("/batch={}", batch);
        result.work = {.bytes_read = 1000, .flops = 5000};
        result.throughput.flops = 5000e9 / ns;
        result.memory = MemoryUse{.allocated_bytes = 4096, .peak_bytes = 2048, .allocations = 2};
        record.benchmarks.push_back(result);
      }
    }
  }
  record.limits = MachineLimits{.by_threads = {{.threads = 2,
                                                .bandwidth = {{.level = "L1", .read = 2e11},
                                                              {.level = "memory", .read = 3e10}},
                                                .operations = {{"f32", 1e11}, {"i8", 2e11}}}}};
  return report_data({{"run", record}});
}

size_t marks_of(const chart::Chart& chart) {
  size_t marks = 0;
  for (const auto& series : chart.series) marks += series.marks.size();
  return marks;
}

TEST(Figures, times_have_a_row_per_case_and_a_series_per_device) {
  const auto charts = times(example());
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_EQ(charts[0].y.categories.size(), 6u);
  EXPECT_EQ(charts[0].series.size(), 2u);
  EXPECT_EQ(marks_of(charts[0]), 12u);
  EXPECT_THAT(charts[0].series[0].marks[0].text, HasSubstr("95 %"));
}

TEST(Figures, speedups_leave_out_the_baseline_and_carry_intervals) {
  const auto charts = speedups(example());
  ASSERT_EQ(charts.size(), 1u);
  ASSERT_EQ(charts[0].series.size(), 1u);
  EXPECT_EQ(charts[0].series[0].name, "cpu");
  for (const auto& mark : charts[0].series[0].marks) {
    EXPECT_NEAR(mark.x, 10, 0.2);
    ASSERT_TRUE(mark.interval);
    EXPECT_LE(mark.interval->low, mark.x);
    EXPECT_GE(mark.interval->high, mark.x);
  }
}

TEST(Figures, scaling_varies_one_thing_at_a_time) {
  const auto charts = scaling(example());
  ASSERT_EQ(charts.size(), 2u);  // over batch, over size
  EXPECT_THAT(charts[0].title, HasSubstr("over batch"));
  EXPECT_EQ(charts[0].series.size(), 6u);  // device and size
  EXPECT_THAT(charts[1].title, HasSubstr("over size"));
  EXPECT_EQ(charts[1].series.size(), 4u);  // device and batch
  EXPECT_EQ(charts[1].series[0].marks.size(), 3u);
  EXPECT_EQ(charts[1].series[0].marks[0].x, 64 * 64);
}

TEST(Figures, roofs_are_those_of_the_machine_for_the_arithmetic_used) {
  const auto charts = rooflines(example());
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_EQ(marks_of(charts[0]), 12u);
  ASSERT_EQ(charts[0].rules.size(), 3u);  // two levels of memory, f32; nothing used i8
  EXPECT_THAT(charts[0].rules[2].text, HasSubstr("f32 arithmetic: 100 GOP/s"));
  EXPECT_EQ(charts[0].series[0].marks[0].x, 5);
}

TEST(Figures, without_limits_there_is_no_roofline) {
  EXPECT_TRUE(rooflines(report_data({{"run", fixtures::small_record()}})).empty());
}

TEST(Figures, memory_latency_and_samples_show_every_result) {
  const auto data = example();
  EXPECT_EQ(marks_of(memory(data).at(0)), 12u);
  EXPECT_EQ(marks_of(latency(data).at(0)), 36u);
  EXPECT_EQ(marks_of(samples(data).at(0)), 12u * 20u);
}

TEST(Figures, exact_formats_are_named_instead_of_drawn) {
  RunRecord record;
  for (const auto& [type, snr] :
       {std::pair{"int8", 40.0}, std::pair{"int4", 20.0}, std::pair{"fp32", double{INFINITY}}}) {
    record.benchmarks.push_back(fixtures::measured({.operation = "quantize", .dtype = type},
                                                   fixtures::samples_around(9, 0.1)));
    record.benchmarks.back().figures = {{"snr_db", snr}, {"bits_per_weight", 8}};
  }
  const auto charts = accuracy(report_data({{"run", record}}));
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_EQ(marks_of(charts[0]), 2u);
  EXPECT_THAT(charts[0].note, HasSubstr("fp32"));
}

TEST(Figures, too_many_rows_and_charts_are_cut_and_say_so) {
  RunRecord record;
  for (int operation = 0; operation < 15; ++operation) {
    for (int shape = 0; shape < 30; ++shape) {
      record.benchmarks.push_back(fixtures::measured(
          {.operation = fmt::format("op{}", operation), .shape = fmt::format("{}", shape + 1)},
          {10, 11}));
    }
  }
  const auto charts = times(report_data({{"run", record}}));
  ASSERT_EQ(charts.size(), kMostCharts);
  EXPECT_EQ(charts[0].y.categories.size(), kMostRows);
  EXPECT_THAT(charts[0].note, HasSubstr("The first 24 of 30 cases"));
  EXPECT_THAT(charts.back().note, HasSubstr("3 more charts"));
}

TEST(Figures, names_of_charts_are_unique) {
  std::set<std::string_view> names;
  for (const auto& figure : all()) EXPECT_TRUE(names.insert(figure.name).second);
}

}  // namespace
}  // namespace trilobite::figures
