#include "measure/noise.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <sstream>

namespace trilobite {
namespace {

constexpr int64_t kTickNs = 10'000'000;

}  // namespace

std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat) {
  std::istringstream line{std::string(proc_stat.substr(0, proc_stat.find('\n')))};
  std::string label;
  line >> label;
  if (label != "cpu") return std::nullopt;
  std::array<int64_t, 8> fields{};  // user nice system idle iowait irq softirq steal
  CpuTimes times;
  for (auto& field : fields) {
    if (!(line >> field)) return std::nullopt;
    times.total += field;
  }
  times.idle = fields[3] + fields[4];
  times.steal = fields[7];
  return times;
}

std::optional<CpuTimes> read_cpu_times(const Path& root) {
  const auto content = read_file(root / "proc/stat");
  return content ? parse_cpu_times(*content) : std::nullopt;
}

KernelNoiseCounters::KernelNoiseCounters(Clock& clock)
    : clock_(clock), stat_file_(::open("/proc/stat", O_RDONLY | O_CLOEXEC)) {}

KernelNoiseCounters::~KernelNoiseCounters() {
  if (stat_file_ >= 0) ::close(stat_file_);
}

int64_t KernelNoiseCounters::steal_ticks() {
  const int64_t now = clock_.now_ns();
  if (stat_file_ < 0 || now - last_read_ns_ < kTickNs) return last_steal_;
  last_read_ns_ = now;
  std::array<char, 256> text{};
  const auto length = ::pread(stat_file_, text.data(), text.size(), 0);
  if (length <= 0) return last_steal_;
  const auto times = parse_cpu_times({text.data(), static_cast<size_t>(length)});
  if (times) last_steal_ = times->steal;
  return last_steal_;
}

NoiseReading KernelNoiseCounters::read() {
  struct rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {.steal_ticks = steal_ticks(),
          .involuntary_switches = usage.ru_nivcsw,
          .major_faults = usage.ru_majflt};
}

}  // namespace trilobite
