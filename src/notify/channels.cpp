#include "notify/channels.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "notify/curl_transfer.hpp"

namespace trilobite::notify {
namespace {

/// What libcurl asks for piece by piece.
struct Outgoing {
  std::string_view rest;
};

size_t read_outgoing(char* buffer, size_t size, size_t count, void* context) {
  auto& outgoing = *static_cast<Outgoing*>(context);
  const size_t length = std::min(size * count, outgoing.rest.size());
  std::memcpy(buffer, outgoing.rest.data(), length);
  outgoing.rest.remove_prefix(length);
  return length;
}

/// Starts the command in a process group of its own, so that what it starts ends with it.
Result<pid_t> start_command(const std::vector<std::string>& command, int input) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&streams);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&streams, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&streams, STDERR_FILENO, STDOUT_FILENO);
  // We ignore SIGPIPE; a command must not inherit that, or its own pipes go on after `head` ended.
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int code = ::posix_spawnp(&pid, words[0], &streams, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  posix_spawnattr_destroy(&attributes);
  if (code != 0)
    return fail(fmt::format("cannot run '{}': {}", command.front(), std::strerror(code)));
  return pid;
}

Result<void> wait_for(pid_t pid, std::chrono::nanoseconds timeout, bool (*unwanted)()) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    const bool stopped = unwanted();
    if (stopped || std::chrono::steady_clock::now() > end) {
      ::kill(-pid, SIGKILL);
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return fail(stopped ? "the command was stopped" : "the command took too long and was ended",
                  ErrorKind::environment);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(WIFEXITED(status)
                  ? fmt::format("the command exited with status {}", WEXITSTATUS(status))
                  : fmt::format("the command was killed by signal {}", WTERMSIG(status)),
              ErrorKind::environment);
}

}  // namespace

Result<void> run_command(const std::vector<std::string>& command, const std::string& input,
                         std::chrono::nanoseconds timeout, bool (*unwanted)()) {
  // A file instead of a pipe: a command that does not read cannot block us.
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return fail("cannot make a temporary file", ErrorKind::environment);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> owner(file, std::fclose);
  const int descriptor = ::fileno(file);
  if (::write(descriptor, input.data(), input.size()) != static_cast<ssize_t>(input.size()) ||
      ::lseek(descriptor, 0, SEEK_SET) != 0)
    return fail("cannot write a temporary file", ErrorKind::environment);
  const auto pid = start_command(command, descriptor);
  if (!pid) return fail_from(pid);
  return wait_for(*pid, timeout, unwanted);
}

Result<void> send_mail(const MailSettings& settings, const std::string& message,
                       std::chrono::nanoseconds timeout) {
  const auto handle = new_transfer(settings.server, timeout);
  if (!handle) return fail_from(handle);
  CURL* const curl = handle->get();
  CurlList recipients;
  for (const auto& to : settings.to) append(recipients, to);
  Outgoing outgoing{message};
  curl_easy_setopt(curl, CURLOPT_MAIL_FROM, settings.from.c_str());
  curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients.get());
  curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_outgoing);
  curl_easy_setopt(curl, CURLOPT_READDATA, &outgoing);
  if (!settings.user.empty()) {
    const char* password = std::getenv(settings.password_variable.c_str());
    if (password == nullptr)
      return fail(fmt::format("the environment variable '{}' with the password is not set",
                              settings.password_variable));
    curl_easy_setopt(curl, CURLOPT_USERNAME, settings.user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, password);
    // A password goes over the wire only where nobody can read along.
    curl_easy_setopt(curl, CURLOPT_USE_SSL, static_cast<long>(CURLUSESSL_ALL));
  }
  return perform(curl);
}

}  // namespace trilobite::notify
