#include "report/accuracy_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "report/console.hpp"
#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

BenchmarkResult scheme(const char* operation, const char* type, double snr, double ns) {
  auto result = fixtures::measured({"quantization", operation, type, "cpu", "8x8"},
                                   fixtures::samples_around(ns, 0.01));
  result.figures = {{"snr_db", snr}, {"bits_per_weight", 4.5}, {"memory_reduction", 7.1}};
  return result;
}

TEST(AccuracyTable, shows_types_of_a_shape_most_accurate_first) {
  RunRecord record = fixtures::small_record();
  record.benchmarks = {scheme("quantize", "int4", 18.25, 2000),
                       scheme("dequantize", "int4", 18.25, 1000),
                       scheme("quantize", "fp32", std::numeric_limits<double>::infinity(), 500)};
  EXPECT_EQ(render(accuracy_table(record), 100, false),
            "accuracy versus speed  bits  saves      SNR  RMSE  dequantize  quantize\n"
            "quantization 8x8\n"
            "  fp32                 4.50  7.10x    exact     -           -    500 ns\n"
            "  int4                 4.50  7.10x  18.2 dB     -        1 us      2 us\n");
}

TEST(AccuracyTable, is_there_only_when_there_is_something_to_compare) {
  RunRecord record = fixtures::small_record();
  EXPECT_TRUE(accuracy_table(record).rows.empty());
  EXPECT_THAT(to_console(record, {.width = 100}), Not(HasSubstr("accuracy versus speed")));
  record.benchmarks = {scheme("quantize", "int4", 18, 2000), scheme("quantize", "int8", 40, 2000)};
  EXPECT_THAT(to_console(record, {.width = 100}), HasSubstr("accuracy versus speed"));
  record.benchmarks[0].status = Status::failed;
  EXPECT_TRUE(accuracy_table(record).rows.empty());
}

}  // namespace
}  // namespace trilobite
