#include "harness/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace trilobite {
namespace {

/// That a process which has nothing more to say may take to end.
constexpr std::chrono::seconds kPatience(2);

bool write_line(int fd, std::string line) {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const auto written = ::write(fd, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

/// Moves the first whole line out of the buffer.
std::optional<std::string> take_line(std::string& buffer) {
  const auto end = buffer.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer.substr(0, end);
  buffer.erase(0, end + 1);
  return line;
}

ssize_t read_more(int fd, std::string& buffer) {
  std::array<char, 65536> chunk;
  const auto length = ::read(fd, chunk.data(), chunk.size());
  if (length > 0) buffer.append(chunk.data(), static_cast<size_t>(length));
  return length;
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

bool open_pipe(Pipe& made) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  made = {ends[0], ends[1]};
  return true;
}

void close_both(const Pipe& pipe) {
  if (pipe.read_end >= 0) ::close(pipe.read_end);
  if (pipe.write_end >= 0) ::close(pipe.write_end);
}

/// A group of its own, so that what the child starts can be ended with it. Parent and child both
/// ask for it: whoever comes first, the group exists before anyone relies on it.
void lead_own_group(pid_t child) { ::setpgid(child, child); }

[[noreturn]] void become_child(const Pipe& down, const Pipe& up,
                               const std::function<void(ChildChannel&)>& body) {
  lead_own_group(0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  ::close(down.write_end);
  ::close(up.read_end);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ChildChannel channel(down.read_end, up.write_end);
  body(channel);
  // Not exit(): the parent's buffers and static destructors are not ours to run.
  ::_exit(0);
}

/// Runs the program, or tells why it could not through `failure`, which closes when it could.
[[noreturn]] void become_program(const Pipe& down, const Pipe& up, const Pipe& failure,
                                 const std::vector<std::string>& command) {
  lead_own_group(0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) ::signal(signal, SIG_DFL);
  ::dup2(down.read_end, STDIN_FILENO);
  ::dup2(up.write_end, STDOUT_FILENO);
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const int code = errno;
  [[maybe_unused]] const auto told = ::write(failure.write_end, &code, sizeof code);
  ::_exit(127);
}

/// 0 when the program runs, else the reason.
int exec_failure(int read_end) {
  int code = 0;
  ssize_t length = 0;
  do {
    length = ::read(read_end, &code, sizeof code);
  } while (length < 0 && errno == EINTR);
  return length == sizeof code ? code : 0;
}

}  // namespace

bool ChildChannel::send(std::string line) const { return write_line(out_, std::move(line)); }

std::optional<std::string> ChildChannel::receive() {
  while (true) {
    if (auto line = take_line(buffer_)) return line;
    const auto length = read_more(in_, buffer_);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return std::nullopt;
  }
}

Result<ChildProcess> ChildProcess::start(const std::function<void(ChildChannel&)>& body) {
  Pipe down;
  Pipe up;
  if (!open_pipe(down) || !open_pipe(up)) {
    const auto why = std::string(std::strerror(errno));
    close_both(down);
    return fail("cannot make a pipe: " + why, ErrorKind::environment);
  }
  const pid_t pid = ::fork();
  if (pid == 0) become_child(down, up, body);
  if (pid > 0) lead_own_group(pid);
  ::close(down.read_end);
  ::close(up.write_end);
  if (pid < 0) {
    const auto why = std::string(std::strerror(errno));
    ::close(down.write_end);
    ::close(up.read_end);
    return fail("cannot start a process for the benchmarks: " + why, ErrorKind::environment);
  }
  return ChildProcess(pid, up.read_end, down.write_end);
}

Result<ChildProcess> ChildProcess::spawn(const std::vector<std::string>& command,
                                         const std::vector<Variable>& more) {
  TRILOBITE_CHECK(!command.empty());
  Pipe down;
  Pipe up;
  Pipe failure;
  if (!open_pipe(down) || !open_pipe(up) || !open_pipe(failure)) {
    const auto why = std::string(std::strerror(errno));
    for (const auto& pipe : {down, up, failure}) close_both(pipe);
    return fail("cannot make a pipe: " + why, ErrorKind::environment);
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const auto& [name, value] : more) ::setenv(name.c_str(), value.c_str(), 1);
    become_program(down, up, failure, command);
  }
  if (pid > 0) lead_own_group(pid);
  ::close(down.read_end);
  ::close(up.write_end);
  ::close(failure.write_end);
  const int code = pid < 0 ? errno : exec_failure(failure.read_end);
  ::close(failure.read_end);
  ChildProcess child(pid, up.read_end, down.write_end);
  if (pid < 0)
    return fail(fmt::format("cannot start a process: {}", std::strerror(code)),
                ErrorKind::environment);
  if (code != 0)
    return fail(fmt::format("cannot run '{}': {}", command.front(), std::strerror(code)));
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      buffer_(std::move(other.buffer_)) {}

ChildProcess::~ChildProcess() {
  if (in_ >= 0) ::close(in_);
  if (out_ >= 0) ::close(out_);
  if (pid_ > 0) {
    kill();
    wait();
  }
}

ChildProcess::Reading ChildProcess::receive(std::string& line, std::chrono::nanoseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    if (auto whole = take_line(buffer_)) {
      line = *std::move(whole);
      return Reading::line;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() < 0) return Reading::timeout;
    pollfd waiting{.fd = in_, .events = POLLIN, .revents = 0};
    const int ready =
        ::poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left.count(), INT_MAX)));
    if (ready < 0 && errno == EINTR) return Reading::interrupted;
    if (ready == 0) continue;
    if (read_more(in_, buffer_) <= 0) return Reading::closed;
  }
}

bool ChildProcess::send(std::string line) const { return write_line(out_, std::move(line)); }

void ChildProcess::kill() const {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

bool ChildProcess::ends_within(std::chrono::nanoseconds patience) const {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  auto pause = std::chrono::microseconds(20);
  for (;;) {
    // It is looked at before it is reaped: until then nobody else can get its number.
    siginfo_t ended{};
    const int found = ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT | WNOHANG);
    if (found < 0 && errno != EINTR) return true;
    if (found == 0 && ended.si_pid == pid_) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(5000));
  }
}

std::string ChildProcess::wait() {
  int status = 0;
  if (pid_ > 0) {
    const bool ended = ends_within(kPatience);
    kill();
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (!ended) return "closed its output but did not end, and was killed";
  }
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

Result<std::string> call_in_child(const std::function<std::string()>& function,
                                  std::chrono::nanoseconds timeout) {
  auto child = ChildProcess::start([&](ChildChannel& channel) { channel.send(function()); });
  if (!child) return fail_from(child);
  std::string line;
  if (child->receive(line, timeout) == ChildProcess::Reading::line) return line;
  child->kill();
  return fail(fmt::format("the helper process {}", child->wait()), ErrorKind::environment);
}

}  // namespace trilobite
