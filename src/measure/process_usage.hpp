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
/// What is resident now (VmRSS).
std::optional<uint64_t> resident_bytes();
/// A size out of the text of /proc/<pid>/status, by its key: "VmHWM:".
std::optional<uint64_t> parse_status_size(std::string_view status, std::string_view key);

}  // namespace trilobite
