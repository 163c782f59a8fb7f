// One record, every format: the medians must be the same numbers.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/duration.hpp"
#include "base/json.hpp"
#include "base/parse_number.hpp"
#include "base/rng.hpp"
#include "record/record_json.hpp"
#include "report/bencher.hpp"
#include "report/comparison.hpp"
#include "report/console.hpp"
#include "report/csv.hpp"
#include "report/csv_parser_for_test.hpp"
#include "report/gbench.hpp"
#include "report/html/markup.hpp"
#include "report/html/page.hpp"
#include "report/junit.hpp"
#include "report/markdown.hpp"
#include "report/prometheus.hpp"
#include "report/records_for_test.hpp"

namespace trilobite {
namespace {

/// Times from a tenth of a nanosecond to minutes.
RunRecord random_record(uint64_t seed) {
  RunRecord record;
  record.id = "run";
  Rng rng(seed);
  for (int i = 0; i < 20; ++i) {
    const double centre = std::pow(10.0, rng.uniform() * 12 - 1);
    std::vector<double> samples;
    for (int j = 0; j < 10; ++j) samples.push_back(centre * (1 + 0.1 * rng.uniform()));
    record.benchmarks.push_back(
        fixtures::measured({.shape = std::to_string(i)}, std::move(samples)));
  }
  return record;
}

TEST(Formats, have_the_same_medians) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto record = random_record(seed);
    const auto rows = fixtures::csv_records(to_csv(record));
    const auto read_back = record_from_json_text(to_json_text(record));
    ASSERT_TRUE(read_back) << read_back.error().message();
    std::map<std::string, double> google;
    const auto gbench = Json::parse(to_gbench(record));
    for (const auto& entry : gbench.at("benchmarks")) {
      google[entry.at("name").get<std::string>()] = entry.at("real_time").get<double>();
    }
    const auto console = to_console(record, {.width = 0});
    const auto bencher = to_bencher(record);
    const auto comparison = compare_devices(record, "cpu");
    const auto data = report_data({{"run", record}});
    const auto html = to_html(data);
    const auto markdown = to_markdown(data);
    const auto junit = to_junit(record);
    const auto prometheus = to_prometheus(record);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto& result = record.benchmarks[i];
      const double median = result.statistics->median;
      EXPECT_EQ(parse_double(rows[i].at("median_ns")).value(), median);
      EXPECT_EQ(read_back->benchmarks[i].statistics->median, median);
      EXPECT_EQ(google.at(result.id + "_median"), median);
      EXPECT_EQ(comparison.groups[i].entries[0].median_ns, median);
      EXPECT_NE(console.find(human_time(median)), std::string::npos) << median;
      const auto has = [&](const std::string& text, const std::string& what) {
        EXPECT_NE(text.find(what), std::string::npos) << what;
      };
      has(html, fmt::format("{}</button></td><td data-v=\"{}\">{}</td>",
                            trilobite::html::code(result.id), median, human_time(median)));
      has(markdown, fmt::format("| {} | {} | ", result.id, human_time(median)));
      has(junit, fmt::format("name=\"{}\" time=\"{}\"", result.id, median / 1e9));
      has(prometheus,
          fmt::format("trilobite_benchmark_time_seconds{{id=\"{}\",suite=\"kernels\","
                      "operation=\"matmul\",dtype=\"f32\",device=\"cpu\",shape=\"{}\"}} "
                      "{}\n",
                      result.id, result.shape, median / 1e9));
      EXPECT_EQ(comparison.groups[i].entries[0].id, result.id);
      const auto digits = fmt::format("{:.{}f}", median, median < 100 ? 2 : 0);
      auto plain = bencher;
      std::erase(plain, ',');
      EXPECT_NE(plain.find(digits + " ns/iter"), std::string::npos) << median;
    }
  }
}

TEST(Formats, a_result_without_samples_has_no_number_in_any) {
  RunRecord record;
  record.benchmarks = {fixtures::measured({}, {100})};
  record.benchmarks[0].samples_ns.clear();
  record.benchmarks[0].samples_per_round.clear();
  record.benchmarks[0].statistics.reset();
  EXPECT_EQ(to_bencher(record), "test kernels/matmul/f32/cpu/64x64x64 ... ignored, no samples\n");
  for (const auto& text : {to_console(record, {}), to_gbench(record), to_junit(record),
                           to_markdown(report_data({{"run", record}}))})
    EXPECT_NE(text.find("no samples"), std::string::npos) << text;
  EXPECT_EQ(to_junit(record).find(" time="), std::string::npos);
  EXPECT_EQ(to_prometheus(record).find("trilobite_benchmark_time_seconds{"), std::string::npos);
  const auto rows = fixtures::parse_csv(to_csv(record));
  const auto median = std::ranges::find(rows[0], "median_ns") - rows[0].begin();
  EXPECT_EQ(rows[1][static_cast<size_t>(median)], "");
}

}  // namespace
}  // namespace trilobite
