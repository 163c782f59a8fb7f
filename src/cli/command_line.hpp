#pragma once
// What all subcommands do alike: parse their part of the command line, set the log level, print.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace trilobite::cli {

/// The words after the subcommand, and the whole command line for the record.
struct Arguments {
  std::vector<std::string> words;
  std::vector<std::string> command_line;
};

/// Adds --log-level, parses, and applies it (else TRILOBITE_LOG). Returns the exit code when the
/// command is over (help was asked for, or the usage was wrong), nothing when it should go on.
std::optional<int> parse(CLI::App& app, const Arguments& arguments);

/// Standard output; a reader that went away (`| head`) ends the program quietly, a full disk is an
/// error.
Result<void> print(std::string_view text);

/// True when standard error (progress) or standard output (colours) is a terminal.
bool stderr_is_terminal();
bool stdout_is_terminal();
/// Columns of the terminal on standard output; 120 when there is none.
unsigned terminal_width();

/// A flag value that is a duration ("30s", "100ms", "2" seconds); CLI11 reports what is not.
CLI::Validator duration_value();

}  // namespace trilobite::cli
