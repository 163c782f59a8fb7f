#pragma once
// The ways out besides HTTP: a command, a mail server. Each is bounded in time.

#include <chrono>
#include <string>
#include <vector>

#include "notify/alert.hpp"

namespace trilobite::notify {

inline bool never() { return false; }

/// Runs the command with `input` on its standard input; its output goes to standard error. A
/// command that fails, takes longer or becomes `unwanted` meanwhile is an error, and is ended with
/// all that it started.
Result<void> run_command(const std::vector<std::string>& command, const std::string& input,
                         std::chrono::nanoseconds timeout, bool (*unwanted)() = never);
Result<void> send_mail(const MailSettings& settings, const std::string& message,
                       std::chrono::nanoseconds timeout);

}  // namespace trilobite::notify
