#include "report/console.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "report/display_text.hpp"
#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Console, a_small_record_reads_like_this) {
  EXPECT_EQ(
      to_console(fixtures::small_record(), {.width = 100}),
      R"(20260101T000000-1, Example CPU, avx2, 2 threads, commit 0123456789 with changes, up to 20 samples in
    2 rounds

benchmark                         median  ±95 %  spread    throughput  of limit       memory  notes
kernels/matmul
  f32/cpu/64x64x64/layout=dense  1.23 us  0.4 %   0.7 %   425 GFLOP/s  71 % f32 peak  16 KiB  2d 1r
  f32/openblas/64x64x64          skipped: openblas has no f32 matmul here
kernels/add
  f32/cpu/8                      0.41 ns  2.4 %   3.6 %  19.5 Gelem/s                         n=3
kernels/softmax
  f32/cpu/64x64x64               failed: wrong output: 0.5 away, 1e-4 allowed
  f32/cpu/4096                   timeout: took over 60 s

±95 %: of the median; spread: 1.48 MAD; notes: d disturbed, r retaken, o outliers, n= too few
2 ok, 1 failed, 1 timed out, 1 skipped: openblas has no f32 matmul here (1)
failed kernels/softmax/f32/cpu/64x64x64: wrong output: 0.5 away, 1e-4 allowed
timeout kernels/softmax/f32/cpu/4096: took over 60 s
warning: virtualized: this is a kvm; advice: use a dedicated machine
warning: disturbed in kernels/matmul/f32/cpu/64x64x64/layout=dense: 2 of 20 samples were disturbed;
    advice: raise --measurement-time
)");
}

TEST(Console, no_line_is_wider_than_the_terminal_or_ends_with_a_blank) {
  for (const auto& record : {fixtures::small_record(), fixtures::hostile_record()}) {
    for (unsigned width = 1; width < 160; width += 3) {
      for (const auto& line : lines_of(to_console(record, {.width = width}))) {
        EXPECT_LE(display_width(line), width) << line;
        EXPECT_FALSE(width > 8 && line.ends_with(' ')) << width << ": " << line;
      }
    }
  }
}

TEST(Console, narrow_terminals_lose_the_least_important_columns_first) {
  const auto record = fixtures::small_record();
  EXPECT_THAT(to_console(record, {.width = 120}), HasSubstr("memory"));
  const auto narrower = to_console(record, {.width = 95});
  EXPECT_THAT(narrower, Not(HasSubstr("memory")));
  EXPECT_THAT(narrower, HasSubstr("GFLOP/s"));
  const auto narrow = to_console(record, {.width = 58});
  EXPECT_THAT(narrow, Not(HasSubstr("GFLOP/s")));
  EXPECT_THAT(narrow, HasSubstr("1.23 us"));
  EXPECT_THAT(narrow, HasSubstr("2d 1r"));
}

TEST(Console, names_are_whole_when_there_is_room) {
  EXPECT_THAT(to_console(fixtures::small_record(), {.width = 0}),
              HasSubstr("f32/cpu/64x64x64/layout=dense "));
}

TEST(Console, colours_appear_only_when_asked_for) {
  for (const auto& record : {fixtures::small_record(), fixtures::hostile_record()}) {
    EXPECT_THAT(to_console(record, {.color = false}), Not(HasSubstr("\x1b")));
  }
  EXPECT_THAT(to_console(fixtures::small_record(), {.color = true}), HasSubstr("\x1b[31m"));
}

TEST(Console, an_empty_record_says_so) {
  EXPECT_EQ(to_console(RunRecord{.complete = true}, {}), "run, 1 thread\nno benchmarks ran\n");
  EXPECT_THAT(to_console(RunRecord{}, {}), HasSubstr("incomplete"));
}

TEST(Console, a_record_of_failures_has_no_legend_but_every_reason) {
  RunRecord record{.complete = true};
  record.benchmarks = {fixtures::unmeasured({}, Status::failed, "first reason"),
                       fixtures::unmeasured({.shape = "2"}, Status::timeout, "second reason")};
  const auto text = to_console(record, {});
  EXPECT_THAT(text, HasSubstr("0 ok, 1 failed, 1 timed out\n"));
  EXPECT_THAT(text, HasSubstr("failed kernels/matmul/f32/cpu/64x64x64: first reason\n"));
  EXPECT_THAT(text, HasSubstr("second reason"));
  EXPECT_THAT(text, Not(HasSubstr("MAD")));
}

TEST(Console, skipped_benchmarks_are_counted_by_reason) {
  RunRecord record{.complete = true};
  for (int i = 0; i < 9; ++i) {
    record.benchmarks.push_back(fixtures::unmeasured({.shape = std::to_string(i)}, Status::skipped,
                                                     i < 6 ? "no softmax" : "no memory"));
  }
  EXPECT_THAT(to_console(record, {}), HasSubstr("9 skipped: no softmax (6), no memory (3)"));
}

TEST(Console, warnings_about_benchmarks_are_grouped_by_code) {
  auto record = fixtures::small_record();
  for (int i = 0; i < 4; ++i) {
    record.warnings.push_back({"disturbed", "too", "wait", "kernels/x/" + std::to_string(i)});
  }
  EXPECT_THAT(to_console(record, {.width = 0}),
              HasSubstr("warning: disturbed (5 benchmarks), such as kernels/matmul/f32/cpu/"
                        "64x64x64/layout=dense: 2 of 20 samples were disturbed; advice: raise "
                        "--measurement-time\n"));
}

TEST(Console, three_thousand_benchmarks_give_one_line_each) {
  RunRecord record{.complete = true};
  for (int i = 0; i < 3000; ++i) {
    const fixtures::Names names{.operation = "op" + std::to_string(i % 10),
                                .shape = std::to_string(i)};
    record.benchmarks.push_back(i % 3 == 0 ? fixtures::unmeasured(names, Status::failed, "broken")
                                           : fixtures::measured(names, {1, 2, 3, 4, 5, 6}));
  }
  const auto lines = lines_of(to_console(record, {}));
  EXPECT_GT(lines.size(), 3010u);
  EXPECT_LT(lines.size(), 3050u);  // failures are listed again, but not a thousand of them
  EXPECT_EQ(lines.back(), "and 980 more");
}

TEST(Console, figures_that_do_not_exist_are_dashes) {
  auto record = fixtures::small_record();
  record.benchmarks.resize(1);
  record.benchmarks[0].statistics->mad = NAN;
  record.benchmarks[0].limit->share = INFINITY;
  const auto text = to_console(record, {.width = 0});
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace trilobite
