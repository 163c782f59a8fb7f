#pragma once
// What this process has used so far, as the kernel counts it.

#include <cstdint>
#include <optional>
#include <string_view>

namespace trilobite {

/// User and system time of all threads.
double cpu_seconds_of_this_process();

/// The most memory that was resident at once (VmHWM), mapped files included; nothing when the
/// kernel does not tell.
std::optional<uint64_t> peak_resident_bytes();
/// The same out of the text of /proc/<pid>/status.
std::optional<uint64_t> parse_peak_resident(std::string_view status);

}  // namespace trilobite
