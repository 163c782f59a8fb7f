#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/duration.hpp"
#include "base/log.hpp"
#include "cli/exit_code.hpp"

namespace trilobite::cli {
namespace {

Result<void> set_log_level(const std::string& flag) {
  const char* variable = std::getenv("TRILOBITE_LOG");
  const std::string text = !flag.empty() ? flag : variable != nullptr ? variable : "warn";
  const auto level = log::parse_level(text);
  if (!level) return fail_from(level, flag.empty() ? "TRILOBITE_LOG" : "--log-level");
  log::set_level(*level);
  return {};
}

}  // namespace

std::optional<int> parse(CLI::App& app, const Arguments& arguments) {
  std::string log_level;
  app.add_option("--log-level", log_level,
                 "trace, debug, info, warn, error or off (default: TRILOBITE_LOG, else warn)");
  // CLI11 takes the words from the back.
  std::vector<std::string> words(arguments.words.rbegin(), arguments.words.rend());
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const auto printed = print(app.help());
    return printed ? kFine : report_error(printed.error());
  } catch (const CLI::ParseError& problem) {
    return report_error(
        Error(fmt::format("{}; `{} --help` shows the usage", problem.what(), app.get_name())));
  }
  if (auto set = set_log_level(log_level); !set) return report_error(set.error());
  return std::nullopt;
}

Result<void> print(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return {};
    if (written < 0)
      return fail(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }
bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

unsigned terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 120;
  return size.ws_col;
}

CLI::Validator duration_value() {
  return {[](const std::string& text) {
            const auto parsed = parse_duration(text);
            return parsed ? std::string() : parsed.error().message();
          },
          "DURATION"};
}

}  // namespace trilobite::cli
