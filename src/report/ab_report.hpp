#pragma once
// The answer of `ab` for people and programs.

#include <span>
#include <string>

#include "verdict/ab.hpp"

namespace trilobite {

/// What could not be compared: only one side has it, or a program failed.
struct AbProblem {
  std::string benchmark;
  std::string what;
};

struct AbReport {
  std::string base;
  std::string candidate;
  std::vector<verdict::AbVerdict> verdicts;
  std::vector<AbProblem> problems;
  double seconds = 0;
  double steal_share = 0;  // of the CPU time while it ran
};

std::string ab_table(const AbReport& report, size_t width, bool color);
/// Schema trilobite.ab/1, docs/verdicts.md.
std::string ab_json(const AbReport& report);

}  // namespace trilobite
