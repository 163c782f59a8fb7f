#include "report/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.hpp"
#include "base/parse_number.hpp"
#include "report/csv_parser_for_test.hpp"
#include "report/display_text.hpp"
#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

double number(const std::string& field) { return parse_double(field).value(); }

TEST(Csv, every_number_reads_back_exactly) {
  const auto record = fixtures::small_record();
  const auto rows = fixtures::csv_records(to_csv(record));
  ASSERT_EQ(rows.size(), record.benchmarks.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& result = record.benchmarks[i];
    EXPECT_EQ(rows[i].at("id"), result.id);
    EXPECT_EQ(rows[i].at("status"), name_of(result.status));
    EXPECT_EQ(rows[i].at("reason"), result.reason);
    EXPECT_EQ(rows[i].at("samples"), std::to_string(result.samples_ns.size()));
    if (!result.statistics) {
      EXPECT_EQ(rows[i].at("median_ns"), "");
      continue;
    }
    const auto& s = *result.statistics;
    EXPECT_EQ(number(rows[i].at("median_ns")), s.median);
    EXPECT_EQ(number(rows[i].at("mean_ns")), s.mean);
    EXPECT_EQ(number(rows[i].at("sd_ns")), s.sd);
    EXPECT_EQ(number(rows[i].at("mad_ns")), s.mad);
    EXPECT_EQ(number(rows[i].at("min_ns")), s.min);
    EXPECT_EQ(number(rows[i].at("max_ns")), s.max);
    EXPECT_EQ(number(rows[i].at("p50_ns")), s.p50);
    EXPECT_EQ(number(rows[i].at("p95_ns")), s.p95);
    EXPECT_EQ(number(rows[i].at("p99_ns")), s.p99);
    EXPECT_EQ(number(rows[i].at("median_ci95_low_ns")), s.median_ci95.low);
    EXPECT_EQ(number(rows[i].at("median_ci95_high_ns")), s.median_ci95.high);
  }
}

TEST(Csv, limit_memory_check_and_warnings_are_there) {
  const auto rows = fixtures::csv_records(to_csv(fixtures::small_record()));
  const auto& row = rows.at(0);
  const auto result = fixtures::small_record().benchmarks[0];
  EXPECT_EQ(number(row.at("flops_per_second")), result.throughput.flops);
  EXPECT_EQ(row.at("items_per_second"), "");
  EXPECT_EQ(row.at("limit"), "f32 arithmetic, 2 threads");
  EXPECT_EQ(number(row.at("limit_share")), 0.7078);
  EXPECT_EQ(row.at("allocated_bytes"), "16384");
  EXPECT_EQ(row.at("check_passed"), "true");
  EXPECT_EQ(number(row.at("check_tolerance")), 1e-4);
  EXPECT_EQ(Json::parse(row.at("figures")), Json({{"snr_db", 45.25}}));
  EXPECT_EQ(rows.at(1).at("figures"), "");
  EXPECT_EQ(row.at("kept_disturbed"), "2");
  EXPECT_EQ(row.at("warnings"), "disturbed");
  EXPECT_EQ(Json::parse(row.at("parameters")), Json({{"layout", "dense"}}));
  EXPECT_EQ(rows.at(1).at("limit"), "");
}

TEST(Csv, every_row_has_as_many_fields_as_the_header) {
  for (const auto& record : {RunRecord(), fixtures::small_record(), fixtures::hostile_record()}) {
    for (const auto& text : {to_csv(record), to_samples_csv(record)}) {
      const auto rows = fixtures::parse_csv(text);
      ASSERT_FALSE(rows.empty());
      for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
    }
  }
}

TEST(Csv, hostile_names_read_back_as_they_are) {
  const auto record = fixtures::hostile_record();
  const auto rows = fixtures::csv_records(to_csv(record));
  ASSERT_EQ(rows.size(), record.benchmarks.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("operation"), valid_utf8(record.benchmarks[i].operation));
    EXPECT_EQ(rows[i].at("reason"), valid_utf8(record.benchmarks[i].reason));
  }
}

TEST(Csv, figures_that_do_not_exist_are_empty) {
  auto record = fixtures::small_record();
  record.benchmarks[0].statistics->sd = NAN;
  record.benchmarks[0].limit->share = INFINITY;
  const auto row = fixtures::csv_records(to_csv(record)).at(0);
  EXPECT_EQ(row.at("sd_ns"), "");
  EXPECT_EQ(row.at("limit_share"), "");
}

TEST(Csv, an_empty_record_is_a_header) {
  EXPECT_EQ(fixtures::parse_csv(to_csv(RunRecord())).size(), 1u);
  EXPECT_EQ(to_samples_csv(RunRecord()), "id,round,index,ns\n");
}

TEST(Csv, samples_carry_their_round_and_read_back_exactly) {
  RunRecord record;
  auto result = fixtures::measured({.shape = "a,b"}, {1.1, 2.2, 3.0000000000000004, 4});
  result.samples_per_round = {2, 0, 2};
  record.benchmarks = {result};
  EXPECT_EQ(to_samples_csv(record),
            "id,round,index,ns\n"
            "\"kernels/matmul/f32/cpu/a,b\",0,0,1.1\n"
            "\"kernels/matmul/f32/cpu/a,b\",0,1,2.2\n"
            "\"kernels/matmul/f32/cpu/a,b\",2,2,3.0000000000000004\n"
            "\"kernels/matmul/f32/cpu/a,b\",2,3,4\n");
}

}  // namespace
}  // namespace trilobite
