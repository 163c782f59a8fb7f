// JUnit, Prometheus and Markdown: structure, and names that cannot break it.
#include <gmock/gmock.h>

#include "report/junit.hpp"
#include "report/markdown.hpp"
#include "report/prometheus.hpp"
#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Junit, counts_every_outcome) {
  const auto text = to_junit(fixtures::small_record());
  EXPECT_THAT(text, HasSubstr("tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"1\""));
  EXPECT_THAT(text, HasSubstr("<failure message=\"wrong output: 0.5 away, 1e-4 allowed\"/>"));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"openblas has no f32 matmul here\"/>"));
}

TEST(Junit, of_nothing_is_a_valid_file) {
  EXPECT_THAT(to_junit({}), HasSubstr("<testsuites>\n</testsuites>"));
}

TEST(Prometheus, has_one_line_per_metric_that_exists) {
  const auto text = to_prometheus(fixtures::small_record());
  EXPECT_THAT(text, HasSubstr("# TYPE trilobite_benchmark_time_seconds gauge\n"));
  EXPECT_THAT(text, HasSubstr("of=\"flops\"} "));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("of=\"tokens\"")));
}

TEST(Prometheus, hostile_labels_stay_on_their_line) {
  const auto text = to_prometheus(fixtures::hostile_record());
  EXPECT_THAT(text, HasSubstr("say \\\"hi\\\""));
  EXPECT_THAT(text, HasSubstr("two\\nlines"));
  size_t begin = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const auto line = text.substr(begin, end - begin);
    EXPECT_TRUE(line.starts_with("# ") || line.starts_with("trilobite_")) << line;
    begin = end + 1;
  }
}

TEST(Markdown, has_findings_the_table_and_reasons) {
  const auto text = to_markdown(report_data({{"run", fixtures::small_record()}}));
  EXPECT_THAT(text, HasSubstr("- **fact** 2 of 5 benchmarks"));
  EXPECT_THAT(text, HasSubstr("| 1.23 us | "));
  EXPECT_THAT(text, HasSubstr("took over 60 s"));
  EXPECT_THAT(to_markdown(report_data({{"run", fixtures::hostile_record()}})),
              Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace trilobite
