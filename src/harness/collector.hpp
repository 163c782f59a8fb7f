#pragma once
// Collector: puts the steps of all rounds together into one result per benchmark. Pure bookkeeping:
// no clock, no files.

#include <optional>
#include <vector>

#include "harness/plan.hpp"
#include "harness/selection.hpp"
#include "harness/step_result.hpp"
#include "harness/visit.hpp"
#include "record/record.hpp"

namespace trilobite {

class Collector {
 public:
  /// `limits` may be nullptr; both outlive the collector.
  Collector(const std::vector<SelectedBenchmark>& selection, const SamplingPlan& plan,
            const MachineLimits* limits);

  void add(const StepResult& step);
  /// The benchmark ended outside its own control (crash, timeout); what was measured stays in the
  /// result.
  void end_early(size_t benchmark, Status status, std::string reason);

  /// False once the benchmark has failed, was skipped or has all its rounds.
  bool wants(const Step& step) const;
  std::optional<Calibration> calibration(size_t benchmark) const;
  /// What the core's witness took at the least in any round so far; 0 when it never looked.
  double shortest_witness_ns() const { return shortest_witness_ns_; }
  bool is_finished(size_t benchmark) const;
  size_t finished() const;
  size_t size() const { return entries_.size(); }

  /// With statistics, throughput and share of the limit, for what has been measured so far.
  BenchmarkResult result(size_t benchmark) const;
  /// Results of all benchmarks that were visited at least once, in the order of the selection.
  std::vector<BenchmarkResult> results() const;
  std::vector<Warning> warnings() const;

 private:
  struct Entry {
    BenchmarkResult result;
    std::optional<Calibration> calibration;
    size_t rounds_done = 0;
    bool warm_up_was_stable = true;
    bool visited = false;
    std::vector<QuietTime> quiet_rounds;
  };
  std::optional<QuietTime> quiet_time(const Entry& entry) const;

  const SamplingPlan& plan_;
  const MachineLimits* limits_;
  std::vector<Entry> entries_;
  double shortest_witness_ns_ = 0;  // of all rounds of all benchmarks
};

}  // namespace trilobite
