#include "verdict/thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trilobite::verdict {
namespace {

// A cosine of 0.955 where it was 1 is another model, not 4.5 % less of the same.
constexpr Levels kAccuracyLevels{.least = 0.001, .critical = 0.01};

bool is_accuracy(std::string_view metric) {
  return metric.find("accuracy") != std::string_view::npos ||
         metric.find("cosine") != std::string_view::npos;
}

Levels usual_levels(const Levels& levels, std::string_view metric) {
  if (!is_accuracy(metric)) return levels;
  return {std::min(levels.least, kAccuracyLevels.least),
          std::min(levels.critical, kAccuracyLevels.critical)};
}

std::optional<double> share(ObjectReader& reader, std::string_view key) {
  const auto value = reader.number(key);
  if (value && !(*value > 0 && *value < 100)) {
    reader.problem(key, "must be above 0; 0.05 is 5 %");
    return std::nullopt;
  }
  return value;
}

Result<void> read_alerts(const Json& json, const std::string& place, Levels& levels) {
  ObjectReader reader(json, place);
  levels.least = share(reader, "warning").value_or(levels.least);
  levels.critical = share(reader, "critical").value_or(levels.critical);
  if (auto done = reader.finish(); !done) return done;
  if (levels.least > levels.critical)
    return fail(fmt::format("{}: warning is above critical", place));
  return {};
}

Result<Levels> read_levels(ObjectReader& reader, Levels levels) {
  if (const auto threshold = share(reader, "regression_threshold")) {
    levels.least = *threshold;
    levels.critical = std::max(levels.critical, *threshold);
  }
  if (const Json* alerts = reader.member("alert_thresholds")) {
    auto done = read_alerts(*alerts, reader.place_of("alert_thresholds"), levels);
    if (!done) return fail_from(done);
  }
  return levels;
}

Result<void> read_groups(const Json& json, RegressionSettings& settings) {
  if (!json.is_object()) return fail("groups: must be an object of regular expressions");
  for (const auto& [pattern, body] : json.items()) {
    ObjectReader reader(body, fmt::format("groups.{}", pattern));
    const auto levels = read_levels(reader, settings.levels);
    if (!levels) return fail_from(levels);
    if (auto done = reader.finish(); !done) return done;
    try {
      settings.groups.push_back({pattern, std::regex(pattern), *levels});
    } catch (const std::regex_error&) {
      return fail(fmt::format("groups: '{}' is not a regular expression", pattern));
    }
  }
  return {};
}

constexpr std::string_view kDecrease = "_decrease_percent";
constexpr std::string_view kIncrease = "_increase_percent";

/// "throughput_decrease_percent" -> "throughput"; empty when it is no such name.
std::string metric_in(std::string_view key) {
  for (const std::string_view ending : {kDecrease, kIncrease}) {
    if (key.ends_with(ending) && key.size() > ending.size())
      return std::string(key.substr(0, key.size() - ending.size()));
  }
  return "";
}

Result<void> read_percent_level(const std::string& level, const Json& json,
                                RegressionSettings& settings) {
  if (!json.is_object()) return fail(fmt::format("thresholds.{}: must be an object", level));
  for (const auto& [key, value] : json.items()) {
    const auto metric = metric_in(key);
    if (metric.empty() || !value.is_number() || !(value.get<double>() > 0)) {
      return fail(
          fmt::format("thresholds.{}.{}: expected <metric>_increase_percent or "
                      "<metric>_decrease_percent with a number above 0",
                      level, key));
    }
    auto& said =
        settings.by_metric.try_emplace(metric, settings.levels, std::nullopt).first->second;
    said.more_is_better = key.ends_with(kDecrease);
    const double limit = value.get<double>() / 100;
    (level == "warning" ? said.levels.least : said.levels.critical) = limit;
  }
  return {};
}

}  // namespace

const MetricThresholds* RegressionSettings::said_of(const std::string& metric) const {
  // "latency_p95" is judged by what is said about "latency".
  const MetricThresholds* found = nullptr;
  size_t longest = 0;
  for (const auto& [name, thresholds] : by_metric) {
    const bool fits = metric == name || metric.starts_with(name + "_");
    if (fits && name.size() > longest) found = &thresholds, longest = name.size();
  }
  return found;
}

Levels RegressionSettings::levels_for(const std::string& benchmark,
                                      const std::string& metric) const {
  if (const auto* said = said_of(metric)) return said->levels;
  for (const auto& group : groups)
    if (std::regex_search(benchmark, group.pattern)) return usual_levels(group.levels, metric);
  // The time of an iteration is a latency too.
  const auto latency = by_metric.find("latency");
  if (metric.starts_with("time") && latency != by_metric.end()) return latency->second.levels;
  return usual_levels(levels, metric);
}

Result<void> apply_percent_thresholds(const Json& json, RegressionSettings& settings) {
  if (!json.is_object()) return fail("thresholds: must be an object");
  for (const auto& [level, body] : json.items()) {
    if (level != "warning" && level != "critical")
      return fail(
          fmt::format("thresholds: there is no level '{}', only warning and critical", level));
  }
  for (const std::string level : {"warning", "critical"}) {
    if (!json.contains(level)) continue;
    if (auto read = read_percent_level(level, json.at(level), settings); !read) return read;
  }
  for (auto& [name, said] : settings.by_metric)
    said.levels.least = std::min(said.levels.least, said.levels.critical);
  return {};
}

Result<RegressionSettings> settings_from_json(const Json& json, RegressionSettings base) {
  if (!json.is_object()) return fail("the configuration must be an object");
  ObjectReader reader(json, "config");
  RegressionSettings settings = std::move(base);
  settings.baseline_file = reader.text("baseline_file").value_or(settings.baseline_file);
  const auto samples = reader.integer("minimum_samples", {.minimum = 1, .maximum = 1'000'000});
  if (samples) settings.minimum_samples = static_cast<size_t>(*samples);
  if (const auto confidence = reader.number("confidence_level")) {
    if (!(*confidence >= 0.5 && *confidence < 1))
      reader.problem("confidence_level", "must be from 0.5 to below 1");
    settings.confidence = *confidence;
  }
  settings.auto_update_baseline =
      reader.boolean("auto_update_baseline").value_or(settings.auto_update_baseline);
  const auto levels = read_levels(reader, settings.levels);
  if (!levels) return fail_from(levels);
  settings.levels = *levels;
  for (const std::string_view name : {"thresholds", "alerts"}) {
    if (const Json* percent = reader.member(name)) {
      if (auto done = apply_percent_thresholds(*percent, settings); !done) return fail_from(done);
    }
  }
  if (const Json* groups = reader.member("groups")) {
    if (auto done = read_groups(*groups, settings); !done) return fail_from(done);
  }
  if (auto done = reader.finish(); !done) return fail_from(done);
  return settings;
}

}  // namespace trilobite::verdict
