// The baselines of a store.
#include <fmt/format.h>

#include "base/json.hpp"
#include "base/parse_number.hpp"
#include "store/history.hpp"

namespace trilobite::store {
namespace {

std::vector<Value> columns_of(const Baseline& baseline) {
  const auto& latest = baseline.runs.back();
  return {baseline.id,
          baseline.description,
          json_line(baseline.tags),
          baseline.created_at,
          baseline.updated_at,
          latest.environment.platform,
          latest.environment.fingerprint,
          latest.version,
          latest.git.commit,
          fmt::format("{}", baseline.runs.size()),
          to_json_text(baseline)};
}

constexpr const char* kInsert =
    "INSERT INTO baselines (id, description, tags, created_at, updated_at, platform, fingerprint, "
    "version, git_commit, runs, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

std::vector<std::string> tags_from(const std::string& text) {
  const auto json = parse_json(text);
  std::vector<std::string> tags;
  if (json && json->is_array())
    for (const auto& tag : *json)
      if (tag.is_string()) tags.push_back(tag.get<std::string>());
  return tags;
}

}  // namespace

Result<void> History::create(const Baseline& baseline) {
  if (auto sound = check_baseline(baseline); !sound) return sound;
  return written([&]() -> Result<void> {
    const Value key = baseline.id;
    const auto rows = database_->run("SELECT id FROM baselines WHERE id = $1", std::span(&key, 1));
    if (!rows) return fail_from(rows);
    if (!rows->empty()) {
      return fail(
          fmt::format("there is a baseline '{}' already; `baseline update` adds runs to it, "
                      "`baseline delete` removes it",
                      baseline.id));
    }
    return execute(kInsert, columns_of(baseline));
  });
}

Result<void> History::update(const std::string& id,
                             const std::function<Result<void>(Baseline&)>& change) {
  return written([&]() -> Result<void> {
    auto baseline = this->baseline(id);
    if (!baseline) return fail_from(baseline);
    if (auto changed = change(*baseline); !changed) return changed;
    if (auto sound = check_baseline(*baseline); !sound) return sound;
    if (auto removed = execute("DELETE FROM baselines WHERE id = $1", {id}); !removed)
      return removed;
    return execute(kInsert, columns_of(*baseline));
  });
}

Result<void> History::remove_baseline(const std::string& id) {
  return written([&]() -> Result<void> {
    auto baseline = this->baseline(id);
    if (!baseline) return fail_from(baseline);
    return execute("DELETE FROM baselines WHERE id = $1", {id});
  });
}

Result<Baseline> History::baseline(const std::string& id) {
  const Value key = id;
  const auto rows = database_->run("SELECT body FROM baselines WHERE id = $1", std::span(&key, 1));
  if (!rows) return fail_from(rows);
  if (rows->empty()) {
    return fail(
        fmt::format("there is no baseline '{}' in the store {}; `trilobite baseline list` "
                    "shows what there is",
                    id, name()));
  }
  auto baseline = baseline_from_json_text(rows->at(0).at(0).value_or(""));
  if (!baseline)
    return fail_from(baseline, fmt::format("baseline '{}' of the store {}", id, name()));
  return baseline;
}

Result<std::vector<BaselineEntry>> History::baselines() {
  const auto rows = database_->run(
      "SELECT id, description, tags, created_at, updated_at, platform, fingerprint, version, "
      "git_commit, runs FROM baselines ORDER BY id");
  if (!rows) return fail_from(rows);
  std::vector<BaselineEntry> entries;
  for (const auto& row : *rows) {
    const auto text = [&row](size_t column) { return row[column].value_or(""); };
    const auto runs = parse_int(text(9));
    entries.push_back({text(0), text(1), tags_from(text(2)), text(3), text(4), text(5), text(6),
                       text(7), text(8), runs && *runs > 0 ? static_cast<size_t>(*runs) : 0});
  }
  return entries;
}

}  // namespace trilobite::store
