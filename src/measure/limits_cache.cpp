#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/log.hpp"
#include "measure/limit_loops.hpp"
#include "measure/limits.hpp"
#include "record/record_json.hpp"

namespace trilobite {
namespace {

const ThreadLimits* for_threads(const MachineLimits& limits, unsigned threads) {
  const auto found = std::ranges::find(limits.by_threads, threads, &ThreadLimits::threads);
  return found == limits.by_threads.end() ? nullptr : &*found;
}

}  // namespace

Path limits_cache_path(const std::string& fingerprint, const std::string& isa) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  Path folder = cache != nullptr && *cache != '\0' ? Path(cache)
                : home != nullptr                  ? Path(home) / ".cache"
                                                   : std::filesystem::temp_directory_path();
  // The 2 counts the versions of what is measured: older files lack some of it.
  return folder / "trilobite" / fmt::format("limits-2-{}-{}.json", fingerprint, isa);
}

std::optional<MachineLimits> load_limits(const Path& path, const std::string& fingerprint) {
  const auto text = read_file(path);
  if (!text) return std::nullopt;
  const auto json = parse_json(*text);
  if (!json) return std::nullopt;
  auto limits = limits_from_json(*json, path.string());
  if (!limits || limits->fingerprint != fingerprint) return std::nullopt;
  return *std::move(limits);
}

Result<void> save_limits(const Path& path, const MachineLimits& limits) {
  return write_file_atomically(path, json_document(to_json(limits)));
}

Result<MachineLimits> limits_of_this_machine(const Environment& environment,
                                             const std::vector<unsigned>& thread_counts,
                                             bool refresh) {
  const Path path = limits_cache_path(environment.fingerprint, limit_loops_isa());
  if (!refresh) {
    auto known = load_limits(path, environment.fingerprint);
    const auto covers = [&](unsigned threads) { return for_threads(*known, threads) != nullptr; };
    if (known && std::ranges::all_of(thread_counts, covers)) return *std::move(known);
  }
  log::info("measuring the limits of this machine, about {} seconds", 3 * thread_counts.size());
  auto limits = measure_limits(environment.cpu, thread_counts);
  if (!limits) return limits;
  limits->fingerprint = environment.fingerprint;
  if (const auto saved = save_limits(path, *limits); !saved)
    log::warn("{}", saved.error().message());
  return limits;
}

}  // namespace trilobite
