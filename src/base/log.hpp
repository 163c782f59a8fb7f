#pragma once
// Logging for people who look into what the program does. Goes to standard error, never to standard
// output, so that results can be piped. Level from `--log-level`, else TRILOBITE_LOG, else `warn`.

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace trilobite::log {

enum class Level { trace, debug, info, warn, error, off };

/// "trace", "debug", "info", "warn", "error" or "off"; anything else is an error that lists them.
Result<Level> parse_level(std::string_view text);
void set_level(Level level);
bool enabled(Level level);
void write(Level level, std::string_view message);

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::debug)) write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::info)) write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::warn)) write(Level::warn, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace trilobite::log
