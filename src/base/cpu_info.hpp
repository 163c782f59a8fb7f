#pragma once
// What processor this is: model, instruction-set features, cores and caches, from the kernel's
// files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"

namespace trilobite {

struct CacheInfo {
  int level = 0;
  std::string type;        // "Data", "Instruction" or "Unified"
  size_t size_bytes = 0;   // of one instance
  unsigned shared_by = 1;  // logical CPUs that share one instance
};

struct CpuInfo {
  std::string architecture;   // "x86_64", "aarch64", ...
  std::string vendor;         // empty where the kernel does not say
  std::string model;          // "AMD EPYC", ...; "unknown" where the kernel does not say
  unsigned logical_cpus = 1;  // online
  unsigned physical_cores = 1;
  unsigned sockets = 1;
  unsigned numa_nodes = 1;
  std::vector<std::string>
      features;  // sorted flags as the kernel spells them: "avx2", "avx512_vnni", ...
  std::vector<CacheInfo> caches;  // of CPU 0, in the kernel's order

  bool has(std::string_view feature) const;
  /// Size of the data or unified cache of `level` in bytes; 0 when unknown.
  size_t cache_bytes(int level) const;
  /// Size of the largest cache level; 0 when unknown.
  size_t last_level_cache_bytes() const;
};

/// Reads `root`/proc/cpuinfo and `root`/sys; missing files leave the fields at their defaults.
CpuInfo read_cpu_info(const Path& root = "/");

}  // namespace trilobite
