#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace trilobite {
namespace {

std::string reason() { return std::strerror(errno); }

/// The last system call's failure: a full or read-only disk is the machine's, a wrong name is not.
std::unexpected<Error> fail_by_errno() {
  const bool lacks = errno == ENOSPC || errno == EDQUOT || errno == EROFS || errno == EIO;
  return fail(reason(), lacks ? ErrorKind::environment : ErrorKind::input);
}

/// Closes the descriptor on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Result<void> write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const auto written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_by_errno();
    content.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Path temporary_beside(const Path& path) {
  Path temporary = path;
  temporary += fmt::format(".tmp{}", ::getpid());
  return temporary;
}

Result<void> write_new(const Path& path, std::string_view content) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) return fail_by_errno();
  if (auto done = write_all(file.get(), content); !done) return done;
  // Without this a crash of the machine right after the rename may leave an empty file.
  if (::fsync(file.get()) != 0) return fail_by_errno();
  return {};
}

Result<void> make_parent(const Path& path) {
  const Path parent = path.parent_path();
  if (parent.empty()) return {};
  std::error_code problem;
  std::filesystem::create_directories(parent, problem);
  if (problem) {
    errno = problem.value();
    return fail_from(Result<void>(fail_by_errno()),
                     fmt::format("cannot create the folder {}", parent.string()));
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const Path& path, size_t limit_bytes) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    return fail(fmt::format("cannot read {}: {}", path.string(), reason()));
  if (S_ISDIR(info.st_mode))
    return fail(fmt::format("cannot read {}: it is a folder", path.string()));
  if (static_cast<size_t>(info.st_size) > limit_bytes) {
    return fail(fmt::format("{} has {} bytes, more than the {} that are accepted here",
                            path.string(), info.st_size, limit_bytes));
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  // Whatever the size says: files in /proc are regular, report 0 bytes and have content.
  content << stream.rdbuf();
  if (!stream) return fail(fmt::format("cannot read {}: {}", path.string(), reason()));
  return std::move(content).str();
}

Result<void> write_file_atomically(const Path& path, std::string_view content) {
  const auto target = [&] { return fmt::format("cannot write {}", path.string()); };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return fail(target() + ": it is a folder");
  // Pipes and devices (/dev/stdout, /dev/full) cannot be renamed over: write straight into them.
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    const Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0) return fail(target() + ": " + reason());
    if (auto done = write_all(device.get(), content); !done) return fail_from(done, target());
    return {};
  }
  if (auto made = make_parent(path); !made) return fail_from(made, target());
  const Path temporary = temporary_beside(path);
  if (auto done = write_new(temporary, content); !done) {
    std::filesystem::remove(temporary, ignored);
    return fail_from(done, target());
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const auto why = reason();
    std::filesystem::remove(temporary, ignored);
    return fail(target() + ": " + why);
  }
  return {};
}

Result<void> check_writable(const Path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return fail(fmt::format("cannot write {}: it is a folder", path.string()));
  }
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return {};
  if (auto made = make_parent(path); !made)
    return fail_from(made, fmt::format("cannot write {}", path.string()));
  const Path temporary = temporary_beside(path);
  auto done = write_new(temporary, "");
  std::filesystem::remove(temporary, ignored);
  if (!done) {
    return fail(fmt::format("cannot write {}: {}; choose another place with --output",
                            path.string(), done.error().message()),
                done.error().kind());
  }
  return {};
}

}  // namespace trilobite
