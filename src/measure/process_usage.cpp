#include "measure/process_usage.hpp"

#include <sys/resource.h>

#include <charconv>

#include "base/file.hpp"

namespace trilobite {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

std::optional<uint64_t> status_size(std::string_view key) {
  const auto status = read_file("/proc/self/status");
  return status ? parse_status_size(*status, key) : std::nullopt;
}

}  // namespace

double cpu_seconds_of_this_process() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::optional<uint64_t> parse_status_size(std::string_view status, std::string_view key) {
  const auto at = status.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  auto rest = status.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  uint64_t kilobytes = 0;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), kilobytes);
  if (read.ec != std::errc() ||
      !rest.substr(static_cast<size_t>(read.ptr - rest.data())).starts_with(" kB"))
    return std::nullopt;
  return kilobytes * 1024;
}

std::optional<uint64_t> peak_resident_bytes() { return status_size("VmHWM:"); }

std::optional<uint64_t> resident_bytes() { return status_size("VmRSS:"); }

}  // namespace trilobite
