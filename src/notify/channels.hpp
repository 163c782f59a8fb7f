#pragma once
// The ways out: a command, an HTTP server, a mail server. Each is bounded in time.

#include <chrono>
#include <string>
#include <vector>

#include "notify/alert.hpp"

namespace trilobite::notify {

/// Runs the command with `input` on its standard input; its output goes to standard error. A
/// command that fails or takes longer is an error, and is ended.
Result<void> run_command(const std::vector<std::string>& command, const std::string& input,
                         std::chrono::nanoseconds timeout);
/// An answer other than 2xx is an error. Redirections are not followed.
Result<void> post_json(const std::string& url, const std::string& body,
                       std::chrono::nanoseconds timeout);
Result<void> send_mail(const MailSettings& settings, const std::string& message,
                       std::chrono::nanoseconds timeout);

}  // namespace trilobite::notify
