#pragma once
// A folder that is gone again when its owner is.

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>

#include "base/file.hpp"

namespace trilobite::cli {

class TemporaryPath {
 public:
  TemporaryPath() {
    static std::atomic<unsigned> count{0};
    path_ = std::filesystem::temp_directory_path() /
            fmt::format("trilobite-{}-{}", ::getpid(), count++);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryPath() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  const Path& path() const { return path_; }

 private:
  Path path_;
};

}  // namespace trilobite::cli
