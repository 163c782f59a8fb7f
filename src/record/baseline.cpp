#include "record/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "record/record_json.hpp"

namespace trilobite {
namespace {

constexpr size_t kLongestId = 100;

bool is_id(std::string_view id) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !id.empty() && id.size() <= kLongestId && std::ranges::all_of(id, fits);
}

bool has_result(const RunRecord& run) {
  return std::ranges::any_of(run.benchmarks,
                             [](const auto& result) { return result.status == Status::ok; });
}

}  // namespace

Result<void> check_baseline_name(const std::string& name) {
  if (is_id(name)) return {};
  return fail(
      fmt::format("'{}' is no name for a baseline; use up to {} letters, digits, '.', "
                  "'_' and '-'",
                  name, kLongestId));
}

Result<void> check_baseline(const Baseline& baseline) {
  if (auto sound = check_baseline_name(baseline.id); !sound) return sound;
  if (baseline.runs.empty()) return fail("a baseline needs at least one run");
  std::set<std::string> seen;
  for (const auto& run : baseline.runs) {
    if (!seen.insert(run.id).second) return fail(fmt::format("run '{}' is in it twice", run.id));
    if (run.environment.fingerprint != baseline.runs.front().environment.fingerprint) {
      return fail(fmt::format("run '{}' is of another machine than run '{}'", run.id,
                              baseline.runs.front().id));
    }
  }
  if (std::ranges::none_of(baseline.runs, has_result))
    return fail("none of its runs has a benchmark with samples");
  return {};
}

std::string to_json_text(const Baseline& baseline) {
  Json head{{"schema", kBaselineSchema},           {"id", baseline.id},
            {"description", baseline.description}, {"tags", baseline.tags},
            {"created_at", baseline.created_at},   {"updated_at", baseline.updated_at}};
  auto text = json_line(head);
  text.pop_back();  // the brace: the runs follow as they are written elsewhere
  text += ",\"runs\":[";
  for (size_t i = 0; i < baseline.runs.size(); ++i)
    text += (i == 0 ? "\n" : ",\n") + to_json_text(baseline.runs[i]);
  return text + "]}\n";
}

Result<Baseline> baseline_from_json_text(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return fail_from(json);
  if (!json->is_object() || !json->contains("schema"))
    return fail("this is not a baseline: it has no schema");
  ObjectReader reader(*json, "baseline");
  const auto schema = reader.text("schema").value_or("");
  if (schema != kBaselineSchema) {
    return fail(schema.starts_with("trilobite.baseline/")
                    ? fmt::format("schema '{}' is newer than this program knows", schema)
                    : fmt::format("schema '{}' is not that of a baseline", schema));
  }
  Baseline baseline;
  reader.require("id");
  baseline.id = reader.text("id").value_or("");
  baseline.description = reader.text("description").value_or("");
  baseline.tags = reader.texts("tags").value_or(std::vector<std::string>());
  baseline.created_at = reader.text("created_at").value_or("");
  baseline.updated_at = reader.text("updated_at").value_or("");
  reader.require("runs");
  const Json* runs = reader.array("runs");
  if (auto done = reader.finish_allowing_more(); !done) return fail_from(done);
  for (const auto& run : *runs) {
    auto record = record_from_json_text(json_line(run));
    if (!record) return fail_from(record, fmt::format("run {}", baseline.runs.size() + 1));
    baseline.runs.push_back(*std::move(record));
  }
  if (auto sound = check_baseline(baseline); !sound) return fail_from(sound, "the baseline");
  return baseline;
}

Baseline baseline_of(RunRecord record) {
  Baseline baseline{.id = record.id,
                    .description = {},
                    .tags = {},
                    .created_at = record.started_at,
                    .updated_at = record.started_at,
                    .runs = {}};
  baseline.runs.push_back(std::move(record));
  return baseline;
}

}  // namespace trilobite
