#pragma once
// Devices side by side: what `trilobite compare` shows. Results of one run that differ only in
// their device are grouped; who is faster, by how much, how sure that is, and what to use.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "record/record.hpp"
#include "report/console.hpp"

namespace trilobite {

inline constexpr std::string_view kComparisonSchema = "trilobite.comparison/1";

/// More samples than this would take seconds to resample.
inline constexpr size_t kMostResampled = 100'000;

/// time of one / time of the other, from medians; the interval (95 %) is a percentile
/// bootstrap, or for very large records from the intervals of the medians.
struct Ratio {
  double value = 1;
  Interval ci95 = {1, 1};
};

struct DeviceEntry {
  std::string device;
  std::string id;  // of the benchmark in the record
  Status status = Status::ok;
  std::string reason;  // of any status but ok
  double median_ns = 0;
  Interval median_ci95;
  size_t samples = 0;
  Throughput throughput;
  std::optional<MemoryUse> memory;
  std::optional<Ratio> speedup;  // baseline's time / this time: above 1 is faster than the baseline
};

enum class Outcome {
  winner,      // the interval of the runner-up's time / the fastest's time lies above 1
  tie,         // it does not: the data do not tell them apart
  few,         // fewer than six samples on a side: no 95 % interval exists
  one_device,  // nothing to compare with
  no_device,   // no device has a result
};

/// Results with the same suite, operation, dtype, shape and parameters.
struct ComparisonGroup {
  std::string suite;
  std::string operation;
  std::string dtype;
  std::string shape;
  std::map<std::string, std::string> parameters;
  double bytes = 0;                  // that one iteration touches; 0 when not stated
  std::vector<DeviceEntry> entries;  // in the order of Comparison::devices; some may be missing
  Outcome outcome = Outcome::no_device;
  std::string fastest;        // smallest median, whatever the outcome; empty: no_device
  std::string runner_up;      // second smallest
  std::optional<Ratio> lead;  // runner-up's time / fastest's time
};

/// Which device to use for an operation and dtype, over all sizes or one class of them.
struct Recommendation {
  std::string suite;
  std::string operation;
  std::string dtype;
  std::string sizes;      // "all sizes", "within L2", "within L3", "beyond the caches"
  std::string device;     // the best by geometric mean
  std::string runner_up;  // its closest rival; empty when it has none
  Ratio lead;             // rival's time / best's time, geometric mean over `groups`
  bool decisive = false;  // the lead's interval excludes 1
  size_t groups = 0;      // sizes that both were measured at
  size_t won = 0;         // of those, won beyond doubt
  size_t lost = 0;
  std::vector<std::string> evidence;  // ids of the best's results behind it
  std::string text;                   // the sentence
};

struct Comparison {
  std::string run_id;
  std::string started_at;
  std::string cpu;
  unsigned threads = 1;
  bool resampled = true;             // intervals of ratios are bootstrapped
  std::string baseline;              // the device that speed-ups refer to
  std::vector<std::string> devices;  // the baseline first, the others as in the record
  std::vector<ComparisonGroup> groups;
  std::vector<Recommendation> recommendations;
  std::vector<std::string> notes;  // what cannot be compared and why
  std::vector<Warning> warnings;   // of the record
};

/// Compares the devices of one run. A baseline that was not measured leaves the speed-ups empty
/// and is said in the notes. Costs a bootstrap per pair, a few milliseconds per group; a record
/// with more than kMostResampled samples is compared by the intervals of its medians, and the notes
/// say so.
Comparison compare_devices(const RunRecord& record, std::string_view baseline_device);

/// time of `above` / time of `below` from the intervals of both medians, taken as independent
/// errors on the log scale: for pairs that were not resampled.
Ratio ratio_from_medians(const DeviceEntry& above, const DeviceEntry& below);

/// "winner", "tie", "few samples", "one device", "no device".
std::string_view name_of(Outcome outcome);
/// "shape name=value ...": what distinguishes a group within its operation and dtype.
std::string case_of(const ComparisonGroup& group);
/// The entry of `device`; nullptr when there is none.
const DeviceEntry* entry_of(const ComparisonGroup& group, std::string_view device);

/// Side by side: a row per group, a column per device, the fastest marked with '*' when it wins.
std::string to_console(const Comparison& comparison, ConsoleOptions options);
std::string to_markdown(const Comparison& comparison);
/// One row per group and device.
std::string to_csv(const Comparison& comparison);
Json to_json(const Comparison& comparison);

}  // namespace trilobite
