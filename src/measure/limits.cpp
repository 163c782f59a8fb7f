#include "measure/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "base/aligned_buffer.hpp"
#include "measure/clock.hpp"

namespace trilobite {
namespace {

constexpr size_t kPage = 4096;
constexpr int64_t kTimePerLoopNs = 80'000'000;
constexpr int64_t kTimePerRepetitionNs = 2'000'000;

struct Level {
  std::string name;
  size_t bytes_per_thread;  // of the whole working set of one thread
  bool streaming;           // beyond the caches: stores should not go through them
};

size_t whole_pages(double bytes) {
  return std::max<size_t>(kPage, static_cast<size_t>(bytes) / kPage * kPage);
}

/// Half of a cache, so that the loop's data surely stays in it; eight times the last cache (at
/// least 256 MB) for the memory, so that it surely does not. Shared caches are split over the
/// threads.
std::vector<Level> levels_of(const CpuInfo& cpu, unsigned threads) {
  std::vector<Level> levels;
  size_t last = 0;
  for (const auto& cache : cpu.caches) {
    if (cache.type == "Instruction" || cache.size_bytes == 0) continue;
    const unsigned sharers = std::min(threads, cache.shared_by);
    levels.push_back({fmt::format("L{}", cache.level),
                      whole_pages(0.5 * static_cast<double>(cache.size_bytes) / sharers), false});
    last = std::max(last, cache.size_bytes);
  }
  const double memory = std::min(std::max(8.0 * static_cast<double>(last), 256e6),
                                 0.25 * static_cast<double>(physical_memory_bytes()));
  levels.push_back({"memory", whole_pages(memory / threads), true});
  return levels;
}

/// Runs `once` (which returns the amount it did) again and again for a while and returns the best
/// rate in amounts per second over repetitions of about 2 ms.
double best_rate(const std::function<double()>& once) {
  SteadyClock clock;
  const auto timed = [&](uint64_t calls) {
    double amount = 0;
    const int64_t start = clock.now_ns();
    for (uint64_t i = 0; i < calls; ++i) amount += once();
    const int64_t elapsed = std::max<int64_t>(1, clock.now_ns() - start);
    return std::pair{elapsed, 1e9 * amount / static_cast<double>(elapsed)};
  };
  uint64_t calls = 1;
  while (timed(calls).first < kTimePerRepetitionNs && calls < (uint64_t{1} << 30)) calls *= 2;
  double best = 0;
  const int64_t start = clock.now_ns();
  for (int repetition = 0; repetition < 3 || clock.now_ns() - start < kTimePerLoopNs;
       ++repetition) {
    best = std::max(best, timed(calls).second);
  }
  return best;
}

/// One thread's share of a level's working set, in three equal arrays.
struct Arrays {
  std::byte* a;
  std::byte* b;
  std::byte* c;
  size_t bytes;  // of each
};

class BandwidthMeter {
 public:
  BandwidthMeter(ThreadPool& pool, std::span<std::byte> memory, const Level& level)
      : pool_(pool), level_(level), loops_(limit_loops()) {
    const size_t per_thread = level.bytes_per_thread;
    for (unsigned i = 0; i < pool.threads(); ++i) {
      std::byte* start = memory.data() + i * per_thread;
      const size_t third = std::max<size_t>(128, per_thread / 3 / 512 * 512);
      slices_.push_back({start, per_thread});
      arrays_.push_back({start, start + third, start + 2 * third, third});
    }
  }

  BandwidthLimit measure() {
    BandwidthLimit limit{
        .level = level_.name,
        .working_set_bytes = static_cast<double>(level_.bytes_per_thread) * pool_.threads()};
    for (const auto read : loops_.read) {
      const double reached = rate([&](unsigned i) {
        // The checksum must be used; it goes where no other thread reads or writes.
        const volatile uint64_t checksum = read(slices_[i].data, slices_[i].bytes);
        static_cast<void>(checksum);
        return slices_[i].bytes;
      });
      limit.read = std::max(limit.read, reached);
    }
    limit.write = rate([&](unsigned i) {
      loops_.write(slices_[i].data, slices_[i].bytes, level_.streaming);
      return slices_[i].bytes;
    });
    limit.copy = rate([&](unsigned i) {
      loops_.copy(arrays_[i].a, arrays_[i].b, arrays_[i].bytes, level_.streaming);
      return 2 * arrays_[i].bytes;
    });
    limit.triad = rate([&](unsigned i) {
      loops_.triad(arrays_[i].a, arrays_[i].b, arrays_[i].c, arrays_[i].bytes, level_.streaming);
      return 3 * arrays_[i].bytes;
    });
    return limit;
  }

 private:
  struct Slice {
    std::byte* data;
    size_t bytes;
  };

  /// Small working sets are passed over several times per fork-join, so that its cost does not
  /// show.
  double rate(const std::function<size_t(unsigned)>& pass) {
    const size_t passes = std::max<size_t>(1, (size_t{4} << 20) / level_.bytes_per_thread);
    size_t bytes_of_first = 0;
    return best_rate([&] {
      pool_.run([&](unsigned index) {
        size_t bytes = 0;
        for (size_t i = 0; i < passes; ++i) bytes += pass(index);
        if (index == 0) bytes_of_first = bytes;
      });
      return static_cast<double>(bytes_of_first) * pool_.threads();
    });
  }

  ThreadPool& pool_;
  const Level& level_;
  LimitLoops loops_;
  std::vector<Slice> slices_;
  std::vector<Arrays> arrays_;
};

double operation_rate(ThreadPool& pool, double (*loop)(uint64_t)) {
  constexpr uint64_t kRounds = 20'000;
  double done_by_first = 0;
  return best_rate([&] {
    pool.run([&](unsigned index) {
      const double done = loop(kRounds);
      if (index == 0) done_by_first = done;
    });
    return done_by_first * pool.threads();
  });
}

Result<ThreadLimits> measure_with(const CpuInfo& cpu, unsigned threads) {
  const auto levels = levels_of(cpu, threads);
  size_t largest = 0;
  for (const auto& level : levels) largest = std::max(largest, level.bytes_per_thread);
  auto memory = AlignedBuffer::allocate(largest * threads);
  if (!memory) return fail_from(memory, "measuring the limits of this machine");
  std::memset(memory->data(), 1, memory->size());
  ThreadPool pool(threads);
  ThreadLimits limits{.threads = threads};
  for (const auto& level : levels) {
    limits.bandwidth.push_back(BandwidthMeter(pool, memory->bytes(), level).measure());
  }
  const auto loops = limit_loops();
  limits.operations["f32"] = operation_rate(pool, loops.f32_operations);
  limits.operations["bf16"] = operation_rate(pool, loops.bf16_operations);
  limits.operations["i8"] = operation_rate(pool, loops.i8_operations);
  limits.operations["ternary"] = operation_rate(pool, loops.ternary_operations);
  return limits;
}

}  // namespace

Result<ReadLoop> fastest_read(ThreadPool& pool) {
  constexpr size_t kBytes = size_t{64} << 20;
  constexpr int kPasses = 3;
  auto memory = AlignedBuffer::allocate(kBytes);
  if (!memory) return fail_from(memory);
  std::memset(memory->data(), 1, memory->size());
  const auto loops = limit_loops();
  SteadyClock clock;
  std::pair<int64_t, ReadLoop> best{std::numeric_limits<int64_t>::max(), nullptr};
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const ReadLoop read : loops.read) {
      const int64_t start = clock.now_ns();
      pool.for_range(kBytes, kPage, [&](size_t first, size_t last) {
        const volatile uint64_t checksum = read(memory->data() + first, last - first);
        static_cast<void>(checksum);
      });
      best = std::min(best, {clock.now_ns() - start, read});
    }
  }
  return best.second;
}

Result<MachineLimits> measure_limits(const CpuInfo& cpu,
                                     const std::vector<unsigned>& thread_counts) {
  MachineLimits limits{.measured_at = utc_now(), .isa = limit_loops_isa()};
  for (const unsigned threads : thread_counts) {
    auto measured = measure_with(cpu, threads);
    if (!measured) return fail_from(measured);
    limits.by_threads.push_back(*std::move(measured));
  }
  return limits;
}

}  // namespace trilobite
