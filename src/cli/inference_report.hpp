#pragma once
// The inference benchmark's files: a summary for people and for programs, the record with every
// sample, the machine.

#include <string>

#include "base/json.hpp"
#include "cli/inference_run.hpp"
#include "record/record.hpp"

namespace trilobite::cli {

/// The single figures, named as regression checks know them; null: not measured. Times in ms.
Json metrics_of(const InferenceResult& result);

/// performance-report.json: what was measured, and under "rust_implementation" (the name that
/// baselines files give to the implementation under test) the metrics.
Json to_report_json(const InferenceResult& result, const RunRecord& record);

/// performance-report.md, and what the command prints.
std::string to_report_markdown(const InferenceResult& result, const RunRecord& record);
std::string to_report_text(const InferenceResult& result);

/// Every sample as benchmarks of suite `inference`.
std::vector<BenchmarkResult> benchmarks_of(const InferenceResult& result, uint64_t seed);

}  // namespace trilobite::cli
