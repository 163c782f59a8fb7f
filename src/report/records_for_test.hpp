#pragma once
// Hand-made records for the tests of this folder.

#include <string>
#include <vector>

#include "record/record.hpp"

namespace trilobite::fixtures {

struct Names {
  std::string suite = "kernels";
  std::string operation = "matmul";
  std::string dtype = "f32";
  std::string device = "cpu";
  std::string shape = "64x64x64";
};

/// A result with these samples and the statistics that follow from them.
BenchmarkResult measured(const Names& names, std::vector<double> samples_ns);
BenchmarkResult unmeasured(const Names& names, Status status, std::string reason);
/// `count` samples around `centre`, with a fixed spread of about `spread` (a share).
std::vector<double> samples_around(double centre, double spread, size_t count = 20);

/// Two measured, one skipped, one failed, one timed out; a warning about the run and one about a
/// benchmark. check_record accepts it.
RunRecord small_record();
/// One result per hostile name: markup, quotes, commas, line breaks, escapes, very long,
/// right-to-left, wide letters, invalid UTF-8.
RunRecord hostile_record();
std::vector<std::string> hostile_names();

}  // namespace trilobite::fixtures
