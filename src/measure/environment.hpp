#pragma once
// The machine and the system as they are, and what about them makes numbers doubtful.

#include <vector>

#include "base/file.hpp"
#include "measure/build_info.hpp"
#include "record/record.hpp"

namespace trilobite {

/// Everything but `devices` and `steal_share`, which the caller fills in. `root` is for tests.
Environment read_environment(const Path& root = "/");

/// One warning per doubt, each with what to do: governor, turbo, virtualisation, load, counters,
/// hyper-threads, build type.
std::vector<Warning> doubts_about(const Environment& environment, const BuildInfo& build);

/// When more than 1 % of the CPU time between two readings went to other guests of the host.
std::vector<Warning> doubts_about_steal(double steal_share);

/// Share of the CPU time that was stolen between two readings of /proc/stat.
double steal_share_between(const struct CpuTimes& before, const struct CpuTimes& after);

}  // namespace trilobite
