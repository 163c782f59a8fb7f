#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <utility>

namespace trilobite::log {
namespace {

constexpr std::array kNames{std::pair{"trace", Level::trace}, std::pair{"debug", Level::debug},
                            std::pair{"info", Level::info},   std::pair{"warn", Level::warn},
                            std::pair{"error", Level::error}, std::pair{"off", Level::off}};

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::trace: return spdlog::level::trace;
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warn: return spdlog::level::warn;
    case Level::error: return spdlog::level::err;
    case Level::off: return spdlog::level::off;
  }
  return spdlog::level::off;
}

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("trilobite", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_pattern("%H:%M:%S.%e %l %v");
    made.set_level(spdlog::level::warn);
    return made;
  }();
  return instance;
}

}  // namespace

Result<Level> parse_level(std::string_view text) {
  for (const auto& [name, level] : kNames) {
    if (text == name) return level;
  }
  return fail(
      fmt::format("unknown log level '{}'; use trace, debug, info, warn, error or off", text));
}

void set_level(Level level) { logger().set_level(to_spdlog(level)); }
bool enabled(Level level) { return logger().should_log(to_spdlog(level)); }
void write(Level level, std::string_view message) {
  logger().log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace trilobite::log
