#include "verdict/direction.hpp"

#include <algorithm>
#include <array>

namespace trilobite::verdict {
namespace {

// Looked for before the others: an "error_rate" and a "cache_miss_rate" are no rates to be proud
// of.
constexpr auto kLessIsBetter = std::to_array<std::string_view>(
    {"error", "loss", "mse", "perplexity", "miss", "latency", "time", "duration", "memory", "bytes",
     "rss", "alloc", "energy", "joule", "watt", "power", "overhead", "size"});
constexpr auto kMoreIsBetter = std::to_array<std::string_view>(
    {"throughput", "per_s", "tps",   "accuracy",  "speedup",   "efficiency",  "cosine",
     "similarity", "snr",   "flops", "gops",      "bandwidth", "rate",        "f1",
     "score",      "match", "bleu",  "precision", "recall",    "utilization", "utilisation"});
// Units at the end of a name.
constexpr auto kTimesAndSizes = std::to_array<std::string_view>(
    {"_ns", "_us", "_ms", "_s", "_sec", "_seconds", "_kb", "_mb", "_gb", "_kib", "_mib", "_gib"});

}  // namespace

std::optional<bool> more_is_better(std::string_view metric) {
  const auto holds = [&](std::string_view part) {
    return metric.find(part) != std::string_view::npos;
  };
  const auto ends = [&](std::string_view part) { return metric.ends_with(part); };
  if (holds("throughput") || holds("per_s")) return true;
  if (std::ranges::any_of(kLessIsBetter, holds)) return false;
  if (std::ranges::any_of(kMoreIsBetter, holds)) return true;
  if (std::ranges::any_of(kTimesAndSizes, ends)) return false;
  return std::nullopt;
}

}  // namespace trilobite::verdict
