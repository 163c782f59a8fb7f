#pragma once
// The measured limits of the machine (bandwidth of each memory level, arithmetic per type), kept in
// a file per machine so that they are measured once, and the share of its limit that a benchmark
// reaches.

#include <optional>
#include <vector>

#include "base/cpu_info.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/thread_pool.hpp"
#include "measure/limit_loops.hpp"
#include "record/record.hpp"

namespace trilobite {

/// Takes about 3 seconds per thread count on an idle machine. The best of many short repetitions
/// counts: a limit is what the machine can do, not what it did while somebody else used it.
Result<MachineLimits> measure_limits(const CpuInfo& cpu,
                                     const std::vector<unsigned>& thread_counts);

/// Which of the reading loops is the fastest on this machine, for benchmarks that are compared with
/// it. Tries them on 64 MB.
Result<ReadLoop> fastest_read(ThreadPool& pool);

/// The cache file for a machine and an instruction set: $XDG_CACHE_HOME/trilobite or
/// ~/.cache/trilobite.
Path limits_cache_path(const std::string& fingerprint, const std::string& isa);
/// Nothing when there is no file, or one that is damaged or of another machine.
std::optional<MachineLimits> load_limits(const Path& path, const std::string& fingerprint);
Result<void> save_limits(const Path& path, const MachineLimits& limits);

/// From the cache if it covers these thread counts, else measured now and stored.
Result<MachineLimits> limits_of_this_machine(const Environment& environment,
                                             const std::vector<unsigned>& thread_counts,
                                             bool refresh);

/// The limit that bounds `work` on `threads` threads and the share of it reached at `median_ns`;
/// nothing when the work moves and computes nothing, or these threads were not measured.
std::optional<LimitShare> share_of_limit(const MachineLimits& limits, const WorkDone& work,
                                         unsigned threads, double median_ns);

}  // namespace trilobite
