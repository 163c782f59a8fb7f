#include "notify/alert.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "notify/channels.hpp"
#include "notify/http.hpp"

namespace trilobite::notify {
namespace {

Result<MailSettings> mail_from_json(const Json& json) {
  ObjectReader reader(json, "alerts.email");
  MailSettings mail;
  reader.require("smtp");
  reader.require("from");
  reader.require("to");
  mail.server = reader.text("smtp").value_or("");
  mail.from = reader.text("from").value_or("");
  mail.to = reader.texts("to").value_or(std::vector<std::string>());
  mail.user = reader.text("user").value_or("");
  mail.password_variable = reader.text("password_env").value_or("");
  if (!mail.server.empty() && !mail.server.starts_with("smtp://") &&
      !mail.server.starts_with("smtps://"))
    reader.problem("smtp", "must begin with smtp:// or smtps://");
  if (auto done = reader.finish(); !done) return fail_from(done);
  if (mail.to.empty()) return fail("alerts.email.to: names nobody");
  return mail;
}

/// Appends one line in one write, so that lines of several monitors never mix.
Result<void> append_line(const std::string& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int code = errno;
  if (file >= 0) ::close(file);
  if (!written) return fail(fmt::format("cannot write to {}: {}", path, std::strerror(code)));
  return {};
}

std::string utc_text(int64_t now, const char* format) {
  const std::time_t time = now;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

std::string line_of(const Alert& alert, int64_t now) {
  const Json json{{"time", utc_text(now, "%Y-%m-%dT%H:%M:%SZ")},
                  {"key", alert.key},
                  {"critical", alert.critical},
                  {"title", alert.title},
                  {"text", alert.text}};
  return json_line(json) + "\n";
}

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return text;
}

}  // namespace

Result<Channels> channels_from_json(const Json& json) {
  ObjectReader reader(json, "alerts");
  Channels channels;
  channels.log_file = reader.text("log").value_or("");
  channels.webhook = reader.text("webhook").value_or("");
  if (!channels.webhook.empty() && !channels.webhook.starts_with("http://") &&
      !channels.webhook.starts_with("https://"))
    reader.problem("webhook", "must begin with http:// or https://");
  if (const Json* command = reader.member("command")) {
    if (command->is_string()) {
      channels.command = {"/bin/sh", "-c", command->get<std::string>()};
    } else {
      channels.command = reader.texts("command").value_or(std::vector<std::string>());
    }
  }
  channels.rate_limit = reader.duration("rate_limit").value_or(channels.rate_limit);
  channels.timeout = reader.duration("timeout").value_or(channels.timeout);
  if (const Json* mail = reader.member("email")) {
    auto settings = mail_from_json(*mail);
    if (!settings) return fail_from(settings);
    channels.mail = *std::move(settings);
  }
  if (auto done = reader.finish(); !done) return fail_from(done);
  return channels;
}

Result<AlertTimes> load_alert_times(const Path& path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code)) return AlertTimes();
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  const auto json = parse_json(*text);
  if (!json || !json->is_object())
    return fail(fmt::format("{} is not the state of a monitor; remove it", path.string()));
  AlertTimes times;
  for (const auto& [key, value] : json->items())
    if (value.is_number_integer()) times[key] = value.get<int64_t>();
  return times;
}

Result<void> save_alert_times(const Path& path, const AlertTimes& times) {
  Json json = Json::object();
  for (const auto& [key, time] : times) json[key] = time;
  return write_file_atomically(path, json_document(json));
}

bool may_tell(const AlertTimes& times, const std::string& key, int64_t now,
              std::chrono::nanoseconds rate_limit) {
  const auto last = times.find(key);
  if (last == times.end() || last->second > now) return true;
  return now - last->second >= std::chrono::ceil<std::chrono::seconds>(rate_limit).count();
}

std::string slack_body(const Alert& alert) {
  const Json json{{"text", fmt::format("*{}*\n```{}```", alert.title, alert.text)}};
  return json_ascii_line(json);
}

std::string mail_body(const Alert& alert, const MailSettings& settings, int64_t now) {
  std::string body;
  for (const char c : alert.text) {
    if (c == '\r') continue;
    body += c == '\n' ? std::string("\r\n") : std::string(1, c);
  }
  return fmt::format(
      "Date: {}\r\nFrom: {}\r\nTo: {}\r\nSubject: {}\r\nMIME-Version: 1.0\r\nContent-Type: "
      "text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{}\r\n",
      utc_text(now, "%a, %d %b %Y %H:%M:%S +0000"), one_line(settings.from),
      one_line(fmt::format("{}", fmt::join(settings.to, ", "))), one_line(alert.title), body);
}

Delivery deliver(const Alert& alert, const Channels& channels, int64_t now, AlertTimes& times) {
  Delivery delivery;
  const auto use = [&](const std::string& channel, auto send) {
    const auto key = fmt::format("{}: {}", channel, alert.key);
    if (!may_tell(times, key, now, channels.rate_limit)) return;
    if (const Result<void> done = send(); !done) {
      delivery.problems.push_back(fmt::format("{}: {}", channel, done.error().message()));
      return;
    }
    times[key] = now;
    ++delivery.taken;
  };
  if (!channels.log_file.empty())
    use("alert log", [&] { return append_line(channels.log_file, line_of(alert, now)); });
  if (!channels.command.empty())
    use("alert command",
        [&] { return run_command(channels.command, line_of(alert, now), channels.timeout); });
  if (!channels.webhook.empty())
    use("webhook",
        [&] { return post_json(channels.webhook, slack_body(alert), channels.timeout); });
  if (channels.mail)
    use("e-mail", [&] {
      return send_mail(*channels.mail, mail_body(alert, *channels.mail, now), channels.timeout);
    });
  return delivery;
}

}  // namespace trilobite::notify
