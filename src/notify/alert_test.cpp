#include "notify/alert.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "notify/channels.hpp"
#include "notify/http.hpp"

namespace trilobite::notify {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr auto kPatience = 10s;
constexpr int64_t kNow = 1785000000;

/// A server on a free loopback port that talks to one client: `talk` gets the socket.
class TinyServer {
 public:
  explicit TinyServer(std::function<void(int)> talk) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    socklen_t length = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, talk = std::move(talk)] {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, 10'000) != 1) return;
      const int client = ::accept(listener_, nullptr, nullptr);
      talk(client);
      ::close(client);
    });
  }
  ~TinyServer() {
    thread_.join();
    ::close(listener_);
  }
  TinyServer(const TinyServer&) = delete;
  TinyServer& operator=(const TinyServer&) = delete;
  int port() const { return port_; }

 private:
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

/// What the client says until `end` is in it, or it falls silent.
std::string heard_until(int socket, const std::string& end) {
  std::string heard;
  std::array<char, 4096> chunk{};
  while (heard.find(end) == std::string::npos) {
    pollfd waiting{socket, POLLIN, 0};
    if (::poll(&waiting, 1, 5000) != 1) break;
    const auto length = ::read(socket, chunk.data(), chunk.size());
    if (length <= 0) break;
    heard.append(chunk.data(), static_cast<size_t>(length));
  }
  return heard;
}

void say(int socket, const std::string& text) {
  EXPECT_EQ(::send(socket, text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

Alert example() { return {"HasRegressions", "slower", "a \"quoted\"\nline", true}; }

TEST(Webhook, posts_the_form_of_slack) {
  std::string request;
  {
    TinyServer server([&](int client) {
      request = heard_until(client, "```\"}");
      say(client, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    const auto done = post_json(fmt::format("http://127.0.0.1:{}/hook", server.port()),
                                slack_body(example()), kPatience);
    EXPECT_TRUE(done) << done.error().message();
  }
  EXPECT_THAT(request, HasSubstr("POST /hook HTTP/1.1"));
  EXPECT_THAT(request, HasSubstr("Content-Type: application/json"));
  const auto body = parse_json(request.substr(request.find("\r\n\r\n") + 4)).value();
  EXPECT_EQ(body.at("text"), "*slower*\n```a \"quoted\"\nline```");
}

TEST(Webhook, a_server_that_refuses_or_is_not_there_is_an_error) {
  {
    TinyServer server([](int client) {
      heard_until(client, "}");
      say(client, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    });
    const auto done =
        post_json(fmt::format("http://127.0.0.1:{}/", server.port()), "{}", kPatience);
    EXPECT_THAT(done.error().message(), HasSubstr("403"));
  }
  EXPECT_FALSE(post_json("http://127.0.0.1:1/", "{}", kPatience));
}

TEST(Webhook, a_server_that_never_answers_costs_the_timeout_only) {
  TinyServer server([](int client) { heard_until(client, "never"); });
  const auto done = post_json(fmt::format("http://127.0.0.1:{}/", server.port()), "{}", 300ms);
  EXPECT_THAT(done.error().message(), HasSubstr("imeout"));
}

TEST(Mail, is_handed_to_the_server) {
  std::string message;
  std::string recipients;
  {
    TinyServer server([&](int client) {
      say(client, "220 here\r\n");
      heard_until(client, "\r\n");
      say(client, "250 hello\r\n");
      heard_until(client, "\r\n");
      say(client, "250 sender\r\n");
      recipients = heard_until(client, "\r\n");
      say(client, "250 recipient\r\n");
      recipients += heard_until(client, "\r\n");
      say(client, "250 recipient\r\n");
      heard_until(client, "DATA\r\n");
      say(client, "354 go on\r\n");
      message = heard_until(client, "\r\n.\r\n");
      say(client, "250 taken\r\n");
      heard_until(client, "QUIT\r\n");
      say(client, "221 bye\r\n");
    });
    const MailSettings settings{fmt::format("smtp://127.0.0.1:{}", server.port()),
                                "lab@example.org",
                                {"a@example.org", "b@example.org"},
                                "",
                                ""};
    const auto done = send_mail(settings, mail_body(example(), settings, kNow), kPatience);
    EXPECT_TRUE(done) << done.error().message();
  }
  EXPECT_THAT(recipients, HasSubstr("<a@example.org>"));
  EXPECT_THAT(recipients, HasSubstr("<b@example.org>"));
  EXPECT_THAT(message, HasSubstr("Date: Sat, 25 Jul 2026 17:20:00 +0000\r\n"));
  EXPECT_THAT(message, HasSubstr("Subject: slower\r\n"));
  EXPECT_THAT(message, HasSubstr("a \"quoted\"\r\nline"));
}

TEST(Mail, header_fields_cannot_be_smuggled_in) {
  Alert alert = example();
  alert.title = "x\r\nBcc: all@example.org";
  EXPECT_THAT(mail_body(alert, {"", "f", {"t"}, "", ""}, kNow), Not(HasSubstr("\r\nBcc:")));
}

TEST(Command, gets_the_alert_and_its_failure_is_told) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("alert-{}", ::getpid());
  EXPECT_TRUE(run_command({"/bin/sh", "-c", "cat > " + path.string()}, "hello", kPatience));
  EXPECT_EQ(read_file(path).value(), "hello");
  std::filesystem::remove(path);
  EXPECT_THAT(run_command({"/bin/sh", "-c", "exit 4"}, "", kPatience).error().message(),
              HasSubstr("status 4"));
  EXPECT_THAT(run_command({"/no/such"}, "", kPatience).error().message(), HasSubstr("/no/such"));
  EXPECT_THAT(run_command({"/bin/sleep", "60"}, "", 100ms).error().message(),
              HasSubstr("too long"));
  EXPECT_THAT(
      run_command({"/bin/sleep", "60"}, "", kPatience, [] { return true; }).error().message(),
      HasSubstr("stopped"));
}

TEST(Deliver, a_channel_that_fails_does_not_silence_the_others) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("log-{}", ::getpid());
  Channels channels;
  channels.log_file = path.string();
  channels.webhook = "http://127.0.0.1:1/";
  channels.command = {"/bin/sh", "-c", "exit 1"};
  AlertTimes times;
  const auto first = deliver(example(), channels, kNow, times);
  EXPECT_EQ(first.problems.size(), 2u);
  EXPECT_EQ(first.taken, 1u);
  // The log has it; the others are tried again.
  const auto second = deliver(example(), channels, kNow + 60, times);
  EXPECT_EQ(second.problems.size(), 2u);
  EXPECT_EQ(second.taken, 0u);
  EXPECT_EQ(parse_json(read_file(path).value()).value().at("title"), "slower");
  std::filesystem::remove(path);
}

TEST(RateLimit, one_matter_is_told_once_in_a_while) {
  const AlertTimes times{{"a", 1000}};
  EXPECT_FALSE(may_tell(times, "a", 1000 + 3599, 1h));
  EXPECT_TRUE(may_tell(times, "a", 1000 + 3600, 1h));
  EXPECT_TRUE(may_tell(times, "b", 1001, 1h));
  EXPECT_TRUE(may_tell(times, "a", 500, 1h));  // the clock went back
}

TEST(RateLimit, the_state_survives_and_foreign_files_are_refused) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("state-{}", ::getpid());
  EXPECT_TRUE(load_alert_times(path).value().empty());
  ASSERT_TRUE(save_alert_times(path, {{"a", 5}}));
  EXPECT_EQ(load_alert_times(path).value().at("a"), 5);
  ASSERT_TRUE(write_file_atomically(path, "[]"));
  EXPECT_FALSE(load_alert_times(path));
  std::filesystem::remove(path);
}

TEST(Channels, configuration_is_read_and_its_mistakes_named) {
  const auto read = [](std::string_view text) {
    return channels_from_json(parse_json(text).value());
  };
  const auto channels =
      read(R"({"log": "x", "command": "echo", "webhook": "https://h/x", "rate_limit": "6h",
               "email": {"smtp": "smtp://h:25", "from": "a", "to": ["b"]}})")
          .value();
  EXPECT_EQ(channels.rate_limit, 6h);
  EXPECT_EQ(channels.mail->to.at(0), "b");
  EXPECT_EQ(channels.command.at(2), "echo");
  for (const auto* bad : {R"({"webhook": "ftp://x"})", R"({"email": {}})", R"({"pager": 1})",
                          R"({"email": {"smtp": "h", "from": "a", "to": ["b"]}})",
                          R"({"email": {"smtp": "smtp://h", "from": "a", "to": []}})"})
    EXPECT_FALSE(read(bad)) << bad;
}

}  // namespace
}  // namespace trilobite::notify
