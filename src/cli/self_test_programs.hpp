#pragma once
// The programs that the trials of self-test compare: this one again, with a known amount of extra
// work.

#include <string>
#include <vector>

#include "base/file.hpp"
#include "trilobite/bench.hpp"

namespace trilobite::cli {

/// What a trial compares: one kernel, fifty of them, or the decoding of a small model by all CPUs.
enum class Subject { kernel, suite, decode };

struct SelfTestProgram {
  double extra = 0;         // share of extra work in a kernel
  uint64_t extra_sums = 0;  // sums of kExtraSum numbers after every token
  Path model;               // of the decoding; empty: there is none
};

inline constexpr size_t kSuiteSize = 50;
inline constexpr size_t kExtraSum = 4096;
inline constexpr const char* kKernelId = "self_test/sum/f32/-/-";
inline constexpr const char* kSuitePattern = "^self_test/part/";
inline constexpr const char* kDecodeId = "self_test/decode/-/cpu/-";

/// The command line that serves `program`.
std::vector<std::string> command_of(const SelfTestProgram& program);

std::vector<BenchmarkDefinition> self_test_definitions(const SelfTestProgram& program);

/// A whole run of the kernel as `bench` measures it, as one line of JSON (harness/step_result.hpp).
Result<std::string> one_run(const SelfTestProgram& program);

/// The decoding of one token takes so many nanoseconds; sums that take `share` of it, as this
/// machine runs them now.
uint64_t sums_that_take(double share, double token_ns);

}  // namespace trilobite::cli
