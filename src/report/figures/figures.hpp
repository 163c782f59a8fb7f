#pragma once
// Charts of a report: what is drawn, from which figures. One function each, no drawing here.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/chart/chart.hpp"
#include "report/report_data.hpp"

namespace trilobite::figures {

/// Rows of one chart, charts of one section, marks of a crowded chart; more are in the tables, and
/// the chart says so.
inline constexpr size_t kMostRows = 24;
inline constexpr size_t kMostCharts = 12;
inline constexpr size_t kMostMarks = 1200;

/// Median time of every case by device, one chart per operation (and type, with several devices).
std::vector<chart::Chart> times(const ReportData& data);
/// Speed-up over the baseline device of the comparison.
std::vector<chart::Chart> speedups(const ReportData& data);
/// Time over size, batch, threads: whatever number varies while everything else stays.
std::vector<chart::Chart> scaling(const ReportData& data);
/// Operations per second over operations per byte, below the measured roofs; one per run that
/// measured its limits.
std::vector<chart::Chart> rooflines(const ReportData& data);
/// Signal-to-noise ratio over time, one per operation at its largest shape.
std::vector<chart::Chart> accuracy(const ReportData& data);
/// Peak bytes of one iteration.
std::vector<chart::Chart> memory(const ReportData& data);
/// Median, 95th and 99th percentile.
std::vector<chart::Chart> latency(const ReportData& data);
/// Every sample of every case.
std::vector<chart::Chart> samples(const ReportData& data);
/// Change against the baseline with its interval.
std::vector<chart::Chart> regression(const ReportData& data);
/// History, levels and changes; those that changed come first.
std::vector<chart::Chart> trends(const ReportData& data);
chart::Chart trend(const verdict::Trend& trend);

struct Figure {
  std::string_view name;  // of --chart
  std::vector<chart::Chart> (*make)(const ReportData&);
};
const std::vector<Figure>& all();

/// "1.23 ms (95 %: 1.2 ms to 1.26 ms)".
std::string time_text(const BenchmarkResult& result);

/// What shares a chart: an operation, one type of it, or that type only where several devices ran
/// the operation and there is something else to compare.
enum class Grouping { operation, type, type_where_devices_differ };

struct Family {
  std::string title;
  bool of_one_type = false;
  std::vector<const BenchmarkResult*> results;
};
bool any_result(const BenchmarkResult&);
/// In the order of the record; only results that `fits` holds for.
std::vector<Family> families(const ReportData& data, Grouping grouping,
                             bool (*fits)(const BenchmarkResult&));

/// What names a result within its family: type (unless all have the same), shape, parameters.
std::string case_name(const BenchmarkResult& result, bool of_one_type);

/// Rows in the order of appearance, at most kMostRows; npos for what does not fit any more.
class Rows {
 public:
  static constexpr size_t npos = static_cast<size_t>(-1);
  size_t row_of(const std::string& name);
  const std::vector<std::string>& names() const { return names_; }
  /// "24 of 60 cases; the table has all", or nothing.
  std::string note() const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, size_t> rows_;
};

/// The first kMostCharts; the last of them says how many were left out.
std::vector<chart::Chart> first_charts(std::vector<chart::Chart> charts);

}  // namespace trilobite::figures
