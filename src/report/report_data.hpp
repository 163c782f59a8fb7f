#pragma once
// What a report is made of: one or more runs, joined, and what is known besides them.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/record.hpp"
#include "report/comparison.hpp"
#include "report/targets.hpp"
#include "verdict/regression.hpp"
#include "verdict/trend.hpp"

namespace trilobite {

/// One run under the name that the report calls it by.
struct ReportSource {
  std::string name;
  RunRecord record;
};

/// The words a report can be filtered by, each once, in the order of appearance.
class Facets {
 public:
  Facets() = default;
  explicit Facets(const RunRecord& record);
  /// Numbers of its suite, device and dtype: "0 2 1".
  std::string of(const BenchmarkResult& result) const;
  /// Of its device, which has one colour all over the report.
  size_t device_number(const BenchmarkResult& result) const;

  std::vector<std::string> suites;
  std::vector<std::string> devices;
  std::vector<std::string> dtypes;

 private:
  std::map<std::string, size_t> suite_numbers_;
  std::map<std::string, size_t> device_numbers_;
  std::map<std::string, size_t> dtype_numbers_;
};

struct ReportData {
  std::vector<ReportSource> sources;  // at least one
  RunRecord joined;                   // the results of all; the rest is of the first
  std::vector<size_t> source_of;      // number of the source of each joined result
  Facets facets;
  Comparison comparison;                // of the joined results
  std::map<std::string, size_t> index;  // of each joined id
  std::optional<verdict::RegressionReport> regression;
  std::vector<verdict::Trend> trends;
  std::vector<Target> targets;
  std::string made_at;  // ISO 8601, UTC
};

/// Joins the runs. A benchmark that several of them have becomes one result per run, its device
/// named "cpu @run", so that runs and machines stand side by side as devices do. An empty
/// `baseline_device` means reference where it was measured, else the first device.
ReportData report_data(std::vector<ReportSource> sources, const std::string& baseline_device = "");

/// Results of `joined` that have a time, in its order.
std::vector<const BenchmarkResult*> measured_results(const ReportData& data);

}  // namespace trilobite
