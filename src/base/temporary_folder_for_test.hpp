#pragma once
// A folder of its own for every test: ctest runs tests of one file at the same time.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.hpp"

namespace trilobite {

/// Made empty, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(Path(testing::TempDir()) /
              fmt::format("trilobite_{}_{}",
                          testing::UnitTest::GetInstance()->current_test_info()->name(),
                          ::getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const Path& path() const { return path_; }

 private:
  Path path_;
};

}  // namespace trilobite
