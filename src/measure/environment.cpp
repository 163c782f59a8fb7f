#include "measure/environment.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/aligned_buffer.hpp"
#include "base/parse_number.hpp"
#include "measure/noise.hpp"

namespace trilobite {
namespace {

std::string first_line(const Path& path) {
  const auto content = read_file(path);
  return content ? content->substr(0, content->find('\n')) : std::string();
}

std::string os_name(const Path& root) {
  std::istringstream lines(read_file(root / "etc/os-release").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("PRETTY_NAME=\"")) return line.substr(13, line.size() - 14);
  }
  return "unknown";
}

std::string governor(const Path& root) {
  const auto name = first_line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return name.empty() ? "unavailable: the kernel offers no cpufreq here" : name;
}

std::string turbo(const Path& root) {
  const auto no_turbo = first_line(root / "sys/devices/system/cpu/intel_pstate/no_turbo");
  if (!no_turbo.empty()) return no_turbo == "1" ? "off" : "on";
  const auto boost = first_line(root / "sys/devices/system/cpu/cpufreq/boost");
  if (!boost.empty()) return boost == "1" ? "on" : "off";
  return "unavailable: the kernel offers no switch for it here";
}

std::string virtualization(const Path& root, const CpuInfo& cpu) {
  const auto type = first_line(root / "sys/hypervisor/type");
  if (!type.empty()) return type;
  if (!cpu.has("hypervisor")) return "none";
  const auto product = first_line(root / "sys/class/dmi/id/product_name");
  return product.empty() ? "virtual machine" : fmt::format("virtual machine ({})", product);
}

/// Opens a cycle counter for this process, as `perf stat` would.
std::string hardware_counters() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.exclude_kernel = 1;
  const long fd = ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
  if (fd < 0) return fmt::format("unavailable: {}", std::strerror(errno));
  ::close(static_cast<int>(fd));
  return "available";
}

std::string energy_counters(const Path& root) {
  const Path rapl = root / "sys/class/powercap/intel-rapl:0/energy_uj";
  std::error_code ignored;
  if (!std::filesystem::exists(rapl, ignored))
    return "unavailable: the kernel offers no RAPL counters here";
  return first_line(rapl).empty() ? "unavailable: the RAPL counters need root" : "available";
}

/// FNV-1a, 64 bit.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
  return hash;
}

/// What must be equal for two runs to be comparable. Memory in whole GiB: kernels differ in what
/// they reserve.
std::string fingerprint_of(const Environment& environment) {
  const auto& cpu = environment.cpu;
  std::string facts =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", environment.platform, cpu.vendor, cpu.model,
                  cpu.logical_cpus, cpu.physical_cores, cpu.sockets,
                  (environment.memory_bytes + (1u << 29)) >> 30, environment.virtualization);
  for (const auto& cache : cpu.caches)
    facts += fmt::format("|{}:{}:{}", cache.level, cache.type, cache.size_bytes);
  for (const auto& feature : cpu.features) facts += "|" + feature;
  return fmt::format("{:016x}", hash_of(facts));
}

double load_average(const Path& root) {
  const auto line = first_line(root / "proc/loadavg");
  return parse_double(line.substr(0, line.find(' '))).value_or(0);
}

}  // namespace

Environment read_environment(const Path& root) {
  Environment environment;
  struct utsname name{};
  ::uname(&name);
  environment.cpu = read_cpu_info(root);
  environment.platform = fmt::format("linux-{}", environment.cpu.architecture);
  environment.os = os_name(root);
  environment.kernel = name.release;
  environment.memory_bytes = physical_memory_bytes();
  environment.governor = governor(root);
  environment.turbo = turbo(root);
  environment.virtualization = virtualization(root, environment.cpu);
  environment.counters = hardware_counters();
  environment.energy = energy_counters(root);
  const auto build = build_info();
  environment.compiler = build.compiler;
  environment.compiler_flags = build.flags;
  environment.build_type = build.build_type;
  environment.load_at_start = load_average(root);
  environment.fingerprint = fingerprint_of(environment);
  return environment;
}

std::vector<Warning> doubts_about(const Environment& environment, const BuildInfo& build) {
  std::vector<Warning> doubts;
  const auto doubt = [&](std::string code, std::string message, std::string advice) {
    doubts.push_back({std::move(code), std::move(message), std::move(advice), ""});
  };
  if (build.sanitized) {
    doubt("sanitized-build", "this program was built with a sanitizer",
          "build with the preset 'release'");
  } else if (!build.optimized) {
    doubt("unoptimized-build",
          fmt::format("this program was built without optimisation ({})", build.build_type),
          "build with the preset 'release'");
  }
  if (environment.virtualization != "none") {
    doubt("virtualized",
          fmt::format("this is a {}: neighbours on the host take time and cache",
                      environment.virtualization),
          "trust ratios measured in one run more than times; repeat at another hour; use a "
          "dedicated machine for absolute figures");
  }
  if (environment.governor.starts_with("unavailable")) {
    doubt("governor-unknown", "the clock frequency cannot be seen or fixed here",
          "on a machine of your own: cpupower frequency-set -g performance");
  } else if (environment.governor != "performance") {
    doubt("governor",
          fmt::format("the frequency governor is '{}', so the clock changes with the load",
                      environment.governor),
          "cpupower frequency-set -g performance");
  }
  if (environment.turbo == "on") {
    doubt("turbo", "turbo is on, so the clock depends on temperature and on the other cores",
          "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > "
          "/sys/devices/system/cpu/cpufreq/boost");
  }
  if (environment.cpu.logical_cpus > environment.cpu.physical_cores) {
    doubt("hyper-threads", "two threads share one core (SMT is on)",
          "use as many threads as there are cores and pin them with taskset, or switch SMT off in "
          "/sys/devices/system/cpu/smt/control");
  }
  if (environment.load_at_start > 0.5) {
    doubt("load",
          fmt::format("something else was running: the load average was {:.2f}",
                      environment.load_at_start),
          "close other programs and wait until `uptime` shows less than 0.5");
  }
  if (environment.counters != "available") {
    doubt("no-counters", fmt::format("no hardware counters ({})", environment.counters),
          "instructions and cache misses cannot be measured here; elsewhere: sysctl "
          "kernel.perf_event_paranoid=1");
  }
  return doubts;
}

std::vector<Warning> doubts_about_steal(double steal_share) {
  if (!(steal_share > 0.01)) return {};
  return {{"steal",
           fmt::format("the hypervisor gave {:.1f} % of the CPU time to others during the run",
                       100 * steal_share),
           "repeat at another hour; compare only what was measured in one run", ""}};
}

double steal_share_between(const CpuTimes& before, const CpuTimes& after) {
  const auto total = after.total - before.total;
  return total > 0 ? static_cast<double>(after.steal - before.steal) / static_cast<double>(total)
                   : 0;
}

}  // namespace trilobite
