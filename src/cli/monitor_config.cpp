#include "cli/monitor_config.hpp"

#include <fmt/format.h>

#include "base/duration.hpp"

namespace trilobite::cli {
namespace {

Result<std::vector<TimeLimit>> limits_from(const Json& json) {
  if (!json.is_object()) return fail("limits: must be an object of regular expressions");
  std::vector<TimeLimit> limits;
  for (const auto& [pattern, value] : json.items()) {
    const auto most = value.is_string()
                          ? parse_duration(value.get<std::string>())
                          : Result<std::chrono::nanoseconds>(fail("must be text, as in \"100ms\""));
    if (!most) return fail_from(most, fmt::format("limits.{}", pattern));
    try {
      limits.push_back({pattern, std::regex(pattern), *most});
    } catch (const std::regex_error&) {
      return fail(fmt::format("limits: '{}' is not a regular expression", pattern));
    }
  }
  return limits;
}

Result<MonitorConfig> config_from(const Json& json) {
  if (!json.is_object()) return fail("the configuration must be an object");
  ObjectReader reader(json, "monitor");
  MonitorConfig config;
  config.bench = reader.texts("bench").value_or(std::vector<std::string>());
  config.store = reader.text("store").value_or("");
  config.baseline = reader.text("baseline").value_or("");
  config.state_file = reader.text("state_file").value_or(config.state_file.string());
  config.timeout = reader.duration("timeout").value_or(config.timeout);
  if (const Json* regression = reader.member("regression")) {
    auto settings = verdict::settings_from_json(*regression, {});
    if (!settings) return fail_from(settings, "regression");
    if (settings->auto_update_baseline)
      return fail("regression.auto_update_baseline: monitor never changes a baseline");
    config.regression = *std::move(settings);
  }
  if (const Json* limits = reader.member("limits")) {
    auto read = limits_from(*limits);
    if (!read) return fail_from(read);
    config.limits = *std::move(read);
  }
  if (const Json* alerts = reader.member("alerts")) {
    auto channels = notify::channels_from_json(*alerts);
    if (!channels) return fail_from(channels);
    config.alerts = *std::move(channels);
  }
  if (auto done = reader.finish(); !done) return fail_from(done);
  return config;
}

}  // namespace

Result<MonitorConfig> load_monitor_config(const Path& path) {
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  const auto json = parse_json(*text);
  if (!json) return fail_from(json, path.string());
  auto config = config_from(*json);
  if (!config) return fail_from(config, path.string());
  return config;
}

}  // namespace trilobite::cli
