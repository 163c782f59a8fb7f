// What one empty iteration costs in Google Benchmark's loop and in ours, alternating in one
// process. Usage: google_benchmark_overhead [REPETITIONS]

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "harness/session.hpp"
#include "harness/visit.hpp"

namespace {

using namespace trilobite;

constexpr int64_t kIterations = 50'000'000;

// The compiler folds Google's loop away when the body is empty, so that nothing is executed at all.
// Ours puts a memory barrier after each iteration, because what a body wrote must count as used; so
// does their ClobberMemory.
void empty_loop(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
}

class LastTime final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    ns_per_iteration = runs.front().GetAdjustedRealTime();
  }
  double ns_per_iteration = 0;
};

double theirs() {
  LastTime reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reporter.ns_per_iteration;
}

double ours() {
  static const BenchmarkDefinition definition{"peer", "empty",
                                              [] { return std::vector<Case>{Case()}; },
                                              [](Bench& p) { p.measure([] {}); }};
  const SelectedBenchmark benchmark{&definition, Case(), "peer/empty"};
  const SamplingPlan plan{.samples = 1, .rounds = 1};
  SteadyClock clock;
  KernelNoiseCounters noise(clock);
  const Calibration calibration{static_cast<uint64_t>(kIterations), 1};
  return visit(benchmark, {0, 0}, calibration, {plan, clock, noise}).partial.samples_ns.front();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<long>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 15;
  benchmark::RegisterBenchmark("empty", empty_loop)->Iterations(kIterations);
  std::vector<double> their_times;
  std::vector<double> our_times;
  for (int i = 0; i < repetitions; ++i) {
    their_times.push_back(theirs());
    our_times.push_back(ours());
  }
  const auto [their_low, their_high] = std::ranges::minmax(their_times);
  const auto [our_low, our_high] = std::ranges::minmax(our_times);
  fmt::print("empty iteration, {} repetitions of {} iterations, alternating\n", repetitions,
             kIterations);
  fmt::print("  Google Benchmark (ClobberMemory)  median {:.3f} ns  ({:.3f} to {:.3f})\n",
             median(their_times), their_low, their_high);
  fmt::print("  Trilobite                         median {:.3f} ns  ({:.3f} to {:.3f})\n",
             median(our_times), our_low, our_high);
}
