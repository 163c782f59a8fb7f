#include "report/recommendation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "report/human_units.hpp"

namespace trilobite {
namespace {

using Groups = std::vector<const ComparisonGroup*>;

bool is_measured(const DeviceEntry* entry) {
  return entry != nullptr && entry->status == Status::ok && entry->median_ns > 0;
}

Ratio inverse(const Ratio& ratio) {
  return {1 / ratio.value, {1 / ratio.ci95.high, 1 / ratio.ci95.low}};
}

/// time of `rival` / time of `device` in one group, by bootstrap where the group has it.
Ratio ratio_in(const ComparisonGroup& group, const DeviceEntry& rival, const DeviceEntry& device,
               const std::string& baseline) {
  if (group.lead && group.fastest == device.device && group.runner_up == rival.device) {
    return *group.lead;
  }
  if (group.lead && group.fastest == rival.device && group.runner_up == device.device) {
    return inverse(*group.lead);
  }
  if (rival.device == baseline && device.speedup) return *device.speedup;
  if (device.device == baseline && rival.speedup) return inverse(*rival.speedup);
  return ratio_from_medians(rival, device);
}

/// How `device` does against `rival` over the groups that both were measured in.
struct Duel {
  Ratio lead;  // rival's time / device's time, geometric mean
  size_t groups = 0;
  size_t won = 0;
  size_t lost = 0;
  bool enough_samples = true;

  bool decisive() const { return groups > 0 && enough_samples && lead.ci95.low > 1; }
};

Duel duel(const Groups& groups, const std::string& device, const std::string& rival,
          const std::string& baseline) {
  Duel result;
  double sum = 0;
  double down = 0;  // squared distances to the ends of the intervals, on the log scale
  double up = 0;
  for (const auto* group : groups) {
    const auto* mine = entry_of(*group, device);
    const auto* theirs = entry_of(*group, rival);
    if (!is_measured(mine) || !is_measured(theirs)) continue;
    const Ratio ratio = ratio_in(*group, *theirs, *mine, baseline);
    ++result.groups;
    const bool enough = supports_95_percent(std::min(mine->samples, theirs->samples));
    result.won += enough && ratio.ci95.low > 1 ? 1 : 0;
    result.lost += enough && ratio.ci95.high < 1 ? 1 : 0;
    result.enough_samples &= enough;
    sum += std::log(ratio.value);
    down += std::pow(std::log(ratio.value / ratio.ci95.low), 2);
    up += std::pow(std::log(ratio.ci95.high / ratio.value), 2);
  }
  if (result.groups == 0) return result;
  // Errors of different sizes are independent: they add up as squares, the mean divides by n. This
  // is the uncertainty of measuring these sizes, not of sizes that were not measured.
  const auto n = static_cast<double>(result.groups);
  result.lead = {std::exp(sum / n),
                 {std::exp((sum - std::sqrt(down)) / n), std::exp((sum + std::sqrt(up)) / n)}};
  return result;
}

/// Devices by the number of these groups they were measured in, in the order of the comparison.
std::vector<std::pair<std::string, size_t>> coverage(const Groups& groups,
                                                     const std::vector<std::string>& devices) {
  std::vector<std::pair<std::string, size_t>> result;
  for (const auto& device : devices) {
    const auto count = std::ranges::count_if(
        groups, [&](const auto* group) { return is_measured(entry_of(*group, device)); });
    if (count > 0) result.emplace_back(device, static_cast<size_t>(count));
  }
  return result;
}

class Advisor {
 public:
  Advisor(const Comparison& comparison, Groups groups, std::string sizes)
      : comparison_(comparison), groups_(std::move(groups)) {
    const auto& first = *groups_.front();
    advice_.suite = first.suite;
    advice_.operation = first.operation;
    advice_.dtype = first.dtype;
    advice_.sizes = std::move(sizes);
  }

  Recommendation advise() {
    const auto measured = coverage(groups_, comparison_.devices);
    size_t most = 0;
    for (const auto& [device, count] : measured) most = std::max(most, count);
    // Only devices that ran all the sizes that any ran can be recommended for all of them.
    std::vector<std::string> candidates;
    for (const auto& [device, count] : measured) {
      if (count == most) candidates.push_back(device);
    }
    choose_from(candidates);
    describe(most);
    for (const auto& [device, count] : measured) {
      if (count < most) remark_on(device, count, most);
    }
    collect_evidence();
    return std::move(advice_);
  }

 private:
  Duel against(const std::string& device, const std::string& rival) const {
    return duel(groups_, device, rival, comparison_.baseline);
  }

  /// The device that is ahead of most others, and the one that comes closest to it.
  void choose_from(const std::vector<std::string>& candidates) {
    size_t most_wins = 0;
    for (const auto& device : candidates) {
      const auto wins = static_cast<size_t>(std::ranges::count_if(candidates, [&](const auto& r) {
        return r != device && against(device, r).lead.value > 1;
      }));
      if (!advice_.device.empty() && wins <= most_wins) continue;
      advice_.device = device;
      most_wins = wins;
    }
    Duel closest;
    for (const auto& rival : candidates) {
      if (rival == advice_.device) continue;
      const auto result = against(advice_.device, rival);
      if (result.groups == 0) continue;
      if (advice_.runner_up.empty() || result.lead.value < closest.lead.value) {
        closest = result;
        advice_.runner_up = rival;
      }
    }
    advice_.lead = closest.lead;
    advice_.decisive = closest.decisive();
    advice_.groups = closest.groups;
    advice_.won = closest.won;
    advice_.lost = closest.lost;
    enough_samples_ = closest.enough_samples;
  }

  void describe(size_t most) {
    const auto& a = advice_;
    std::string what = fmt::format("{}/{} {}", a.suite, a.operation, a.dtype);
    if (a.sizes != "all sizes") what += ", " + a.sizes;
    if (a.device.empty()) {
      advice_.text = what + ": no device has a result";
      return;
    }
    if (a.runner_up.empty()) {
      advice_.text = fmt::format("{}: only {} was measured ({})", what, a.device, sizes(most));
      return;
    }
    const auto numbers =
        fmt::format("95 % {}, geometric mean over {}", human_ratios(a.lead.ci95), sizes(a.groups));
    if (a.decisive) {
      advice_.text = fmt::format("{}: use {} ({} as fast as {}, {})", what, a.device,
                                 human_ratio(a.lead.value), a.runner_up, numbers);
      if (a.lost > 0) {
        advice_.text += fmt::format("; {} is faster in {} of them", a.runner_up, a.lost);
      }
      return;
    }
    const char* remedy = enough_samples_ ? "either will do, or measure longer"
                                         : "too few samples for a 95 % interval, take at least 6";
    advice_.text = fmt::format("{}: {} and {} cannot be told apart ({}, {}); {}", what, a.device,
                               a.runner_up, human_ratio(a.lead.value), numbers, remedy);
    if (a.won > 0 && a.lost > 0) {
      advice_.text += fmt::format("; {} is faster in {}, {} in {}: choose by size", a.device, a.won,
                                  a.runner_up, a.lost);
    }
  }

  void remark_on(const std::string& device, size_t count, size_t most) {
    const auto result = against(device, advice_.device);
    advice_.text += fmt::format("; {} ran {} of {}", device, count, sizes(most));
    if (result.decisive()) {
      advice_.text += fmt::format(" and is {} as fast there", human_ratio(result.lead.value));
    }
  }

  void collect_evidence() {
    for (const auto* group : groups_) {
      for (const auto& device : {advice_.device, advice_.runner_up}) {
        const auto* entry = entry_of(*group, device);
        if (is_measured(entry)) advice_.evidence.push_back(entry->id);
      }
    }
  }

  static std::string sizes(size_t count) {
    return fmt::format("{} size{}", count, count == 1 ? "" : "s");
  }

  const Comparison& comparison_;
  Groups groups_;
  Recommendation advice_;
  bool enough_samples_ = true;
};

/// Where the data of one iteration live decides what bounds it, so the caches separate the classes.
std::string size_class(const ComparisonGroup& group, const CpuInfo& cpu) {
  const auto fits = [&](int level) {
    const auto bytes = cpu.cache_bytes(level);
    return bytes > 0 && group.bytes <= static_cast<double>(bytes);
  };
  if (!(group.bytes > 0) || cpu.last_level_cache_bytes() == 0) return "";
  if (fits(2)) return "within L2";
  if (fits(3)) return "within L3";
  return "beyond the caches";
}

}  // namespace

std::vector<Recommendation> recommend(const Comparison& comparison, const CpuInfo& cpu) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::vector<std::pair<Key, Groups>> operations;  // in the order of the comparison
  for (const auto& group : comparison.groups) {
    const Key key{group.suite, group.operation, group.dtype};
    auto found = std::ranges::find(operations, key, &std::pair<Key, Groups>::first);
    if (found == operations.end()) found = operations.insert(found, {key, {}});
    found->second.push_back(&group);
  }
  std::vector<Recommendation> result;
  for (const auto& [key, groups] : operations) {
    result.push_back(Advisor(comparison, groups, "all sizes").advise());
    for (const char* name : {"within L2", "within L3", "beyond the caches"}) {
      Groups members;
      std::ranges::copy_if(groups, std::back_inserter(members),
                           [&](const auto* group) { return size_class(*group, cpu) == name; });
      if (members.empty() || members.size() == groups.size()) continue;
      auto advice = Advisor(comparison, members, name).advise();
      if (!advice.runner_up.empty()) result.push_back(std::move(advice));
    }
  }
  return result;
}

}  // namespace trilobite
