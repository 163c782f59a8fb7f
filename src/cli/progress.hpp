#pragma once
// The live line on a terminal while benchmarks run: where we are, what runs, how long it will take.

#include <chrono>
#include <cstddef>
#include <string>

namespace trilobite::cli {

class Progress {
 public:
  /// Silent when `enabled` is false (a pipe, a log file).
  Progress(bool enabled, size_t steps);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(const std::string& what);
  void end() { ++done_; }
  void clear();

 private:
  std::string time_left() const;
  bool enabled_;
  size_t steps_;
  size_t done_ = 0;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace trilobite::cli
