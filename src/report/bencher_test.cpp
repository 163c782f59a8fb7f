#include "report/bencher.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

TEST(Bencher, lines_are_those_of_criterion) {
  EXPECT_EQ(to_bencher(fixtures::small_record()),
            "test kernels/matmul/f32/cpu/64x64x64/layout=dense ... bench:       1,234 ns/iter (+/- "
            "7)\n"
            "test kernels/matmul/f32/openblas/64x64x64 ... ignored, openblas has no f32 matmul "
            "here\n"
            "test kernels/add/f32/cpu/8 ... bench:        0.41 ns/iter (+/- 0.01)\n"
            "test kernels/softmax/f32/cpu/64x64x64 ... FAILED\n"
            "test kernels/softmax/f32/cpu/4096 ... FAILED\n");
}

TEST(Bencher, thousands_are_separated_by_commas) {
  RunRecord record;
  record.benchmarks = {fixtures::measured({.shape = "a"}, {1234567890.4}),
                       fixtures::measured({.shape = "b"}, {100}),
                       fixtures::measured({.shape = "c"}, {99.994})};
  EXPECT_EQ(to_bencher(record),
            "test kernels/matmul/f32/cpu/a ... bench: 1,234,567,890 ns/iter (+/- 0)\n"
            "test kernels/matmul/f32/cpu/b ... bench:         100 ns/iter (+/- 0)\n"
            "test kernels/matmul/f32/cpu/c ... bench:       99.99 ns/iter (+/- 0.00)\n");
}

// The expression with which github-action-benchmark reads these lines; the name as bencher.dev
// wants it, without a blank.
TEST(Bencher, every_measured_line_is_accepted_by_existing_parsers) {
  const std::regex parser(
      R"(^test (\S+) \.\.\. bench:\s+([0-9,.]+) (\w+/\w+) \(\+/- ([0-9,.]+)\)$)");
  std::istringstream lines(to_bencher(fixtures::hostile_record()));
  size_t measured = 0;
  size_t all = 0;
  for (std::string line; std::getline(lines, line); ++all) {
    // std::regex recurses for each character; the 3,000 letters of one name would be too deep.
    if (const auto at = line.find(std::string(100, 'x')); at != std::string::npos) {
      line.erase(at, 2900);
    }
    if (std::regex_match(line, parser)) ++measured;
  }
  EXPECT_EQ(measured, fixtures::hostile_names().size());
  EXPECT_EQ(all, 2 * fixtures::hostile_names().size());
}

TEST(Bencher, an_empty_record_is_no_line) { EXPECT_EQ(to_bencher(RunRecord()), ""); }

}  // namespace
}  // namespace trilobite
