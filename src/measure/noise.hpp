#pragma once
// What disturbs a sample: time stolen by the hypervisor, involuntary context switches, pages from
// disk.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file.hpp"
#include "measure/clock.hpp"

namespace trilobite {

/// Totals since the start of the process or the machine; only differences mean something.
struct NoiseReading {
  int64_t steal_ticks = 0;           // of the machine, in 1/100 s
  int64_t involuntary_switches = 0;  // of this process
  int64_t major_faults = 0;          // of this process
};

class NoiseCounters {
 public:
  virtual ~NoiseCounters() = default;
  virtual NoiseReading read() = 0;
};

/// getrusage for every reading (below 1 us); /proc/stat at most once per tick, because its steal
/// time moves in ticks of 10 ms and reading it costs tens of microseconds.
class KernelNoiseCounters final : public NoiseCounters {
 public:
  /// `clock` tells when a tick has passed, and outlives the counters.
  explicit KernelNoiseCounters(Clock& clock);
  ~KernelNoiseCounters() override;
  KernelNoiseCounters(const KernelNoiseCounters&) = delete;
  KernelNoiseCounters& operator=(const KernelNoiseCounters&) = delete;
  NoiseReading read() override;

 private:
  int64_t steal_ticks();
  Clock& clock_;
  int stat_file_;
  int64_t last_steal_ = 0;
  int64_t last_read_ns_ = 0;
};

/// CPU time of the whole machine in ticks.
struct CpuTimes {
  int64_t total = 0;
  int64_t idle = 0;
  int64_t steal = 0;
};
/// The first line of /proc/stat; nothing when it is not what we know.
std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat);
std::optional<CpuTimes> read_cpu_times(const Path& root = "/");

}  // namespace trilobite
