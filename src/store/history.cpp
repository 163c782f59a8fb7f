#include "store/history.hpp"

#include <fmt/format.h>

#include "base/parse_number.hpp"
#include "record/record_json.hpp"
#include "store/schema.hpp"

namespace trilobite::store {
namespace {

std::string text_of(const Value& value) { return value.value_or(""); }

Error no_such(const std::string& what, const std::string& id, const std::string& store) {
  return Error(fmt::format("there is no {} '{}' in the store {}", what, id, store));
}

}  // namespace

Result<History> History::open(const std::string& url, Access access) {
  const bool server = url.starts_with("postgresql://") || url.starts_with("postgres://");
  const auto path = url.starts_with("sqlite:") ? url.substr(7) : url;
  if (path.empty()) return fail("--store: the name of the store is empty");
  if (!server && path.find("://") != std::string::npos)
    return fail(fmt::format("--store: '{}' is neither a path nor postgresql://...", url));
  auto database = server ? open_postgresql(url) : open_sqlite(path, access);
  if (!database) return fail_from(database);
  const auto ready = access == Access::write ? migrate(**database) : check_readable(**database);
  if (!ready) return fail_from(ready);
  return History(*std::move(database));
}

Result<void> History::execute(const std::string& sql, std::vector<Value> parameters) {
  const auto done = database_->run(sql, parameters);
  if (!done) return fail_from(done);
  return {};
}

Result<void> History::written(const std::function<Result<void>()>& work) {
  if (auto begun = database_->begin_writing(); !begun) return begun;
  auto done = work();
  if (done) {
    const auto committed = database_->run("COMMIT");
    if (committed) return {};
    done = fail_from(committed);
  }
  (void)database_->run("ROLLBACK");  // the first failure is the one to tell
  return done;
}

Result<void> History::insert_results(const RunRecord& record) {
  for (const auto& result : record.benchmarks) {
    auto done = execute(
        "INSERT INTO results (run_id, benchmark, status, median_ns) VALUES ($1, $2, $3, $4)",
        {record.id, result.id, std::string(trilobite::name_of(result.status)),
         result.statistics ? Value(fmt::format("{}", result.statistics->median)) : Value()});
    if (!done) return done;
  }
  return {};
}

Result<void> History::add(const RunRecord& record) {
  return written([&]() -> Result<void> {
    if (auto done = execute("DELETE FROM results WHERE run_id = $1", {record.id}); !done)
      return done;
    if (auto done = execute("DELETE FROM runs WHERE id = $1", {record.id}); !done) return done;
    auto done = execute(
        "INSERT INTO runs (id, started_at, complete, version, git_commit, platform, fingerprint, "
        "record) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        {record.id, record.started_at, record.complete ? "1" : "0", record.version,
         record.git.commit, record.environment.platform, record.environment.fingerprint,
         to_json_text(record)});
    if (!done) return done;
    return insert_results(record);
  });
}

Result<std::vector<RunEntry>> History::runs() {
  const auto rows = database_->run(
      "SELECT id, started_at, complete, version, git_commit, platform, fingerprint FROM runs "
      "ORDER BY started_at, id");
  if (!rows) return fail_from(rows);
  std::vector<RunEntry> runs;
  for (const auto& row : *rows) {
    runs.push_back({text_of(row[0]), text_of(row[1]), row[2] == "1", text_of(row[3]),
                    text_of(row[4]), text_of(row[5]), text_of(row[6])});
  }
  return runs;
}

Result<RunRecord> History::run(const std::string& id) {
  const Value key = id;
  const auto rows = database_->run("SELECT record FROM runs WHERE id = $1", std::span(&key, 1));
  if (!rows) return fail_from(rows);
  if (rows->empty()) return std::unexpected(no_such("run", id, name()));
  auto record = record_from_json_text(text_of(rows->at(0).at(0)));
  if (!record) return fail_from(record, fmt::format("run '{}' of the store {}", id, name()));
  return record;
}

Result<std::vector<HistoryPoint>> History::medians() {
  const auto rows = database_->run(
      "SELECT runs.id, started_at, git_commit, fingerprint, benchmark, median_ns FROM results JOIN "
      "runs ON runs.id = results.run_id WHERE results.status = 'ok' AND complete = 1 AND median_ns "
      "IS NOT NULL ORDER BY benchmark, started_at, runs.id");
  if (!rows) return fail_from(rows);
  std::vector<HistoryPoint> points;
  for (const auto& row : *rows) {
    const auto median = parse_double(text_of(row[5]));
    if (!median || !(*median > 0)) {
      return fail(fmt::format("the store {} has a median of '{}' for {}", name(), text_of(row[5]),
                              text_of(row[4])));
    }
    points.push_back({text_of(row[0]), text_of(row[1]), text_of(row[2]), text_of(row[3]),
                      text_of(row[4]), *median});
  }
  return points;
}

Result<void> History::add(const SelfTestEntry& entry) {
  return written([&] {
    return execute("INSERT INTO self_tests (id, at, fingerprint, body) VALUES ($1, $2, $3, $4)",
                   {entry.id, entry.at, entry.fingerprint, entry.body});
  });
}

Result<std::vector<History::SelfTestEntry>> History::self_tests() {
  const auto rows =
      database_->run("SELECT id, at, fingerprint, body FROM self_tests ORDER BY at, id");
  if (!rows) return fail_from(rows);
  std::vector<SelfTestEntry> entries;
  for (const auto& row : *rows)
    entries.push_back({text_of(row[0]), text_of(row[1]), text_of(row[2]), text_of(row[3])});
  return entries;
}

}  // namespace trilobite::store
