#pragma once
// Runs another program to its end and says what it wrote and what it took.

#include <chrono>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace trilobite {

struct FinishedProgram {
  int status = 0;                    // exit status; 128 + signal when it was killed
  std::string output;                // standard output, at most kLargestOutput bytes
  std::string errors;                // standard error, the same
  double wall_ns = 0;                // from its start to its end
  double cpu_seconds = 0;            // user and system
  uint64_t peak_resident_bytes = 0;  // as the kernel counts it; at least what we had when it began
};
inline constexpr size_t kLargestOutput = size_t{16} << 20;

/// The first word is the program (found on PATH unless it has a slash); it reads nothing from us.
/// Errors: it cannot be run, or it has not ended in time (and was killed).
Result<FinishedProgram> run_program(const std::vector<std::string>& command,
                                    std::chrono::nanoseconds timeout);

}  // namespace trilobite
