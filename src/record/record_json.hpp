#pragma once
// The record as JSON text (schema trilobite.record/1, docs/formats/record.md), both ways, and the
// checks that make a record trustworthy.

#include <string>
#include <string_view>

#include "base/file.hpp"
#include "base/json.hpp"
#include "record/record.hpp"

namespace trilobite {

/// Only the rates that apply.
Json to_json(const Throughput& throughput);
Json to_json(const BenchmarkResult& result);
Json to_json(const Environment& environment);
Json to_json(const MachineLimits& limits);
/// The whole file, one benchmark per line, ending with a newline.
std::string to_json_text(const RunRecord& record);

/// Rejects what is not JSON, not a record, of a newer schema, incomplete, of wrong types, or
/// inconsistent in itself (check_record). Unknown members are accepted: later minor versions add
/// some.
Result<RunRecord> record_from_json_text(std::string_view text);
Result<RunRecord> load_record(const Path& path);
Result<BenchmarkResult> benchmark_from_json(const Json& json, const std::string& place);
Result<MachineLimits> limits_from_json(const Json& json, const std::string& place);

}  // namespace trilobite
