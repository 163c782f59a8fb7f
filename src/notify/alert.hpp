#pragma once
// Alerts: what they say, where they go, and how often they may. A channel that fails is told and
// does not keep the others from being used.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/json.hpp"

namespace trilobite::notify {

struct Alert {
  std::string key;    // alerts with one key are one matter: "HasRegressions"
  std::string title;  // one line
  std::string text;   // several
  bool critical = false;
};

struct MailSettings {
  std::string server;  // smtp://host:port or smtps://host
  std::string from;
  std::vector<std::string> to;
  std::string user;
  std::string password_variable;  // name of the environment variable that holds the password
};

struct Channels {
  std::string log_file;              // empty: none; one JSON object per line
  std::vector<std::string> command;  // empty: none; the alert comes as JSON on its standard input
  std::string webhook;               // empty: none; Slack's form: {"text": ...}
  std::optional<MailSettings> mail;
  std::chrono::nanoseconds rate_limit = std::chrono::hours(1);  // per key
  std::chrono::nanoseconds timeout = std::chrono::seconds(20);  // of each delivery
};

/// Members: log, command (text or words), webhook, email {smtp, from, to, user, password_env},
/// rate_limit, timeout.
Result<Channels> channels_from_json(const Json& json);

/// When each matter was last told through each channel, in seconds since 1970.
using AlertTimes = std::map<std::string, int64_t>;
Result<AlertTimes> load_alert_times(const Path& path);
Result<void> save_alert_times(const Path& path, const AlertTimes& times);

/// True when `key` may be told again at `now`; a clock that went backwards does not silence it.
bool may_tell(const AlertTimes& times, const std::string& key, int64_t now,
              std::chrono::nanoseconds rate_limit);

struct Delivery {
  size_t taken = 0;                   // by so many channels
  std::vector<std::string> problems;  // one sentence per channel that failed
};

/// Uses every channel that may tell the matter again, and notes in `times` which took it: one that
/// fails is tried again the next time, the others are not.
Delivery deliver(const Alert& alert, const Channels& channels, int64_t now, AlertTimes& times);

/// The message of the webhook, in the JSON form of Slack's incoming webhooks.
std::string slack_body(const Alert& alert);
/// The mail as RFC 5322 has it; header fields cannot be broken by line breaks in the alert.
std::string mail_body(const Alert& alert, const MailSettings& settings, int64_t now);

}  // namespace trilobite::notify
