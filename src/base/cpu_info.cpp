#include "base/cpu_info.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/parse_number.hpp"

namespace trilobite {
namespace {

/// First line of a small kernel file, empty when it cannot be read.
std::string first_line(const Path& path) {
  const auto content = read_file(path);
  return content ? content->substr(0, content->find('\n')) : std::string();
}

std::string trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

/// CPUs in a kernel list such as "0-3,8".
unsigned count_cpu_list(std::string_view list) {
  unsigned count = 0;
  std::istringstream parts{std::string(list)};
  for (std::string part; std::getline(parts, part, ',');) {
    const auto dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_int(part.substr(dash + 1));
    if (first && last && *last >= *first) count += static_cast<unsigned>(*last - *first + 1);
  }
  return count;
}

/// "512K", "32M" -> bytes.
size_t parse_cache_size(std::string_view text) {
  if (text.empty()) return 0;
  const size_t unit = text.back() == 'K' ? 1024 : text.back() == 'M' ? 1024 * 1024 : 1;
  const auto number = parse_int(unit == 1 ? text : text.substr(0, text.size() - 1));
  return number && *number > 0 ? static_cast<size_t>(*number) * unit : 0;
}

std::vector<CacheInfo> read_caches(const Path& root) {
  std::vector<CacheInfo> caches;
  for (int index = 0; index < 16; ++index) {
    const Path folder = root / fmt::format("sys/devices/system/cpu/cpu0/cache/index{}", index);
    const auto level = parse_int(first_line(folder / "level"));
    if (!level) break;
    caches.push_back(
        {.level = static_cast<int>(*level),
         .type = first_line(folder / "type"),
         .size_bytes = parse_cache_size(first_line(folder / "size")),
         .shared_by = std::max(1u, count_cpu_list(first_line(folder / "shared_cpu_list")))});
  }
  return caches;
}

/// The kernel names the same thing differently per architecture; the first that is there wins.
std::string first_of(const std::map<std::string, std::string>& fields,
                     std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto found = fields.find(key);
    if (found != fields.end() && !found->second.empty()) return found->second;
  }
  return {};
}

struct CpuFile {
  std::map<std::string, std::string> fields;  // of the first processor
  std::set<std::string> cores;                // "socket/core"
  std::set<std::string> sockets;
};

CpuFile parse_cpuinfo(const std::string& content) {
  CpuFile file;
  std::string socket = "0";
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto key = trim(line.substr(0, colon));
    const auto value = trim(line.substr(colon + 1));
    file.fields.try_emplace(key, value);
    if (key == "physical id") file.sockets.insert(socket = value);
    if (key == "core id") file.cores.insert(socket + "/" + value);
  }
  return file;
}

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> result;
  for (std::string word; words >> word;) result.push_back(word);
  std::ranges::sort(result);
  return result;
}

}  // namespace

bool CpuInfo::has(std::string_view feature) const {
  return std::ranges::binary_search(features, feature, std::less<>());
}

size_t CpuInfo::cache_bytes(int level) const {
  for (const auto& cache : caches) {
    if (cache.level == level && cache.type != "Instruction") return cache.size_bytes;
  }
  return 0;
}

size_t CpuInfo::last_level_cache_bytes() const {
  size_t largest = 0;
  for (const auto& cache : caches) largest = std::max(largest, cache.size_bytes);
  return largest;
}

CpuInfo read_cpu_info(const Path& root) {
  CpuInfo info;
  struct utsname name{};
  info.architecture = ::uname(&name) == 0 ? name.machine : "unknown";
  const auto file = parse_cpuinfo(read_file(root / "proc/cpuinfo").value_or(""));
  info.vendor = first_of(file.fields, {"vendor_id", "CPU implementer"});
  info.model = first_of(file.fields, {"model name", "Model", "CPU part"});
  if (info.model.empty()) info.model = "unknown";
  info.features = split_words(first_of(file.fields, {"flags", "Features"}));
  info.logical_cpus =
      std::max(1u, count_cpu_list(first_line(root / "sys/devices/system/cpu/online")));
  info.physical_cores =
      file.cores.empty() ? info.logical_cpus : static_cast<unsigned>(file.cores.size());
  info.sockets = std::max<unsigned>(1, static_cast<unsigned>(file.sockets.size()));
  info.numa_nodes =
      std::max(1u, count_cpu_list(first_line(root / "sys/devices/system/node/online")));
  info.caches = read_caches(root);
  return info;
}

}  // namespace trilobite
