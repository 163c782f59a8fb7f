#pragma once
// A baseline: runs of one version on one machine, pooled under a name, to compare later runs with.
// Several runs tell how much a machine varies from run to run, which one run cannot.

#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "record/record.hpp"

namespace trilobite {

inline constexpr std::string_view kBaselineSchema = "trilobite.baseline/1";

struct Baseline {
  std::string id;
  std::string description;
  std::vector<std::string> tags;
  std::string created_at;  // ISO 8601, UTC
  std::string updated_at;
  std::vector<RunRecord> runs;  // at least one; oldest first
};

Result<void> check_baseline_name(const std::string& name);
/// Runs of one machine only, at least one, no run twice, at least one benchmark that is ok. The id
/// is 1 to 100 letters, digits, '.', '_', '-'.
Result<void> check_baseline(const Baseline& baseline);

/// The whole file, ending with a newline.
std::string to_json_text(const Baseline& baseline);
/// Rejects what is not a baseline, of a newer schema, or fails check_baseline.
Result<Baseline> baseline_from_json_text(std::string_view text);

/// The pool of one run: what a plain record stands for where a baseline is wanted.
Baseline baseline_of(RunRecord record);

}  // namespace trilobite
