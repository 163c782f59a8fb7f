// Suite harness: what the lab itself costs. An empty iteration, a fork-join of our threads, and
// what the sampler does around one sample. docs/measuring.md sets them against the samples.

#include <cstdlib>
#include <limits>

#include "base/thread_pool.hpp"
#include "harness/sampler.hpp"
#include "trilobite/bench.hpp"

namespace {

using namespace trilobite;

/// The real clock, at its real cost, that also jumps ahead when told to.
class JumpingClock final : public Clock {
 public:
  int64_t now_ns() override { return clock_.now_ns() + ahead_ns_; }
  void jump(int64_t nanoseconds) { ahead_ns_ += nanoseconds; }

 private:
  SteadyClock clock_;
  int64_t ahead_ns_ = 0;
};

}  // namespace

TRILOBITE_BENCHMARK("harness/empty") {
  p.work({.items = 1});
  p.measure([] {});
}

TRILOBITE_BENCHMARK("harness/fork_join", over(axis("threads", {1, 2, 4}))) {
  const auto threads = static_cast<unsigned>(p.number("threads"));
  if (threads > usable_cpus()) return p.skip("this machine has fewer CPUs than that");
  ThreadPool pool(threads);
  p.work({.items = 1});
  p.measure([&] { pool.run([](unsigned) {}); });
}

// One iteration takes one sample, of a body that takes no time but moves the clock as if it had
// taken `sample_us`: the noise counters then read /proc/stat as often as they do between real
// samples of that length. Retakes count as well. Costs less within a series of samples, where the
// reading after one sample is the reading before the next.
TRILOBITE_BENCHMARK("harness/around_one_sample", over(axis("sample_us", {100, 1000, 10'000}))) {
  const int64_t sample_ns = p.number("sample_us") * 1000;
  JumpingClock clock;
  KernelNoiseCounters noise(clock);
  Sampler sampler(clock, noise);
  const IterationLoop body = [&](uint64_t) { clock.jump(sample_ns); };
  p.work({.items = 1});
  p.measure([&] { return sampler.take(body, 1, 1, std::numeric_limits<int64_t>::max()); });
}

// Part of every sample's time, once: a sample is the difference of two readings.
TRILOBITE_BENCHMARK("harness/clock") {
  SteadyClock clock;
  p.work({.items = 1});
  p.measure([&] { return clock.now_ns(); });
}

// One malloc and its free, through the allocator that can count, while it does not count: as in
// every sample of a body that allocates.
TRILOBITE_BENCHMARK("harness/malloc_free") {
  p.work({.items = 1});
  p.measure([] {
    void* block = std::malloc(64);
    Bench::keep_alive(block);
    std::free(block);
  });
}
