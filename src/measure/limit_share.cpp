#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/limits.hpp"

namespace trilobite {
namespace {

/// The smallest level that holds what the work touches. Levels are measured at half their size, so
/// up to twice the measured working set fits.
const BandwidthLimit* level_for(const ThreadLimits& limits, double bytes) {
  for (const auto& level : limits.bandwidth) {
    if (bytes <= 2 * level.working_set_bytes) return &level;
  }
  return limits.bandwidth.empty() ? nullptr : &limits.bandwidth.back();
}

struct Mix {
  const char* name;
  double read_share;
  double BandwidthLimit::* rate;
};

/// The measured mix of reads and writes that is nearest to the work's own.
const Mix& mix_for(const WorkDone& work) {
  static constexpr Mix kMixes[] = {{"read", 1.0, &BandwidthLimit::read},
                                   {"triad", 2.0 / 3, &BandwidthLimit::triad},
                                   {"copy", 0.5, &BandwidthLimit::copy},
                                   {"write", 0.0, &BandwidthLimit::write}};
  const double share = work.bytes_read / (work.bytes_read + work.bytes_written);
  const auto distance = [&](const Mix& mix) { return std::fabs(mix.read_share - share); };
  return *std::ranges::min_element(kMixes, {}, distance);
}

}  // namespace

std::optional<LimitShare> share_of_limit(const MachineLimits& limits, const WorkDone& work,
                                         unsigned threads, double median_ns) {
  const auto found = std::ranges::find(limits.by_threads, threads, &ThreadLimits::threads);
  if (found == limits.by_threads.end() || !(median_ns > 0)) return std::nullopt;
  std::optional<LimitShare> binding;
  const auto consider = [&](std::string name, double rate, const char* unit, double amount) {
    if (!(rate > 0) || !(amount > 0)) return;
    const double share = 1e9 * amount / rate / median_ns;
    if (!binding || share > binding->share)
      binding = LimitShare{std::move(name), rate, unit, share};
  };
  const auto threads_text = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  const double bytes = work.bytes_read + work.bytes_written;
  const double touched = std::max(bytes, work.working_set_bytes);
  if (const auto* level = level_for(*found, touched); level != nullptr && bytes > 0) {
    const auto& mix = mix_for(work);
    consider(fmt::format("{} {}, {}", level->level, mix.name, threads_text), level->*mix.rate,
             "B/s", bytes);
  }
  if (const auto peak = found->operations.find(work.compute); peak != found->operations.end()) {
    consider(fmt::format("{} arithmetic, {}", work.compute, threads_text), peak->second, "op/s",
             work.flops);
  }
  return binding;
}

}  // namespace trilobite
