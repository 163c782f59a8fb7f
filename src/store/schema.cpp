#include "store/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/parse_number.hpp"

namespace trilobite::store {
namespace {

// The whole record is kept as text, so that nothing it says is lost; columns are what is asked for.
constexpr std::array<std::string_view, 3> kRuns{
    "CREATE TABLE runs (id TEXT PRIMARY KEY, started_at TEXT NOT NULL, complete INTEGER NOT NULL, "
    "version TEXT NOT NULL, git_commit TEXT NOT NULL, platform TEXT NOT NULL, "
    "fingerprint TEXT NOT NULL, record TEXT NOT NULL)",
    "CREATE TABLE results (run_id TEXT NOT NULL REFERENCES runs (id), benchmark TEXT NOT NULL, "
    "status TEXT NOT NULL, median_ns DOUBLE PRECISION, PRIMARY KEY (run_id, benchmark))",
    "CREATE INDEX results_by_benchmark ON results (benchmark)"};

constexpr std::array<std::string_view, 1> kBaselines{
    "CREATE TABLE baselines (id TEXT PRIMARY KEY, description TEXT NOT NULL, tags TEXT NOT NULL, "
    "created_at TEXT NOT NULL, updated_at TEXT NOT NULL, platform TEXT NOT NULL, "
    "fingerprint TEXT NOT NULL, version TEXT NOT NULL, git_commit TEXT NOT NULL, "
    "runs INTEGER NOT NULL, body TEXT NOT NULL)"};

constexpr std::array<std::string_view, 1> kSelfTests{
    "CREATE TABLE self_tests (id TEXT PRIMARY KEY, at TEXT NOT NULL, fingerprint TEXT NOT NULL, "
    "body TEXT NOT NULL)"};

const std::array<Migration, 3> kMigrations{Migration{kRuns}, Migration{kBaselines},
                                           Migration{kSelfTests}};

Result<void> apply(Database& database, size_t from, size_t target) {
  if (from == 0) {
    auto made =
        database.run("CREATE TABLE trilobite_store (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
    if (!made) return fail_from(made);
    auto set = database.run("INSERT INTO trilobite_store (key, value) VALUES ('version', '0')");
    if (!set) return fail_from(set);
  }
  for (size_t version = from; version < target; ++version) {
    for (const auto statement : kMigrations[version].statements) {
      auto done = database.run(std::string(statement));
      if (!done) return fail_from(done);
    }
  }
  const Value reached = fmt::format("{}", target);
  auto set = database.run("UPDATE trilobite_store SET value = $1 WHERE key = 'version'",
                          std::span(&reached, 1));
  if (!set) return fail_from(set);
  return {};
}

Error newer_than_known(const Database& database, size_t version) {
  return Error(
      fmt::format("the store {} has schema {}, this program knows up to {}; use a newer "
                  "trilobite",
                  database.name(), version, kMigrations.size()));
}

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

Result<size_t> schema_version(Database& database) {
  const auto tables = database.tables();
  if (!tables) return fail_from(tables);
  if (tables->empty()) return 0;
  if (std::ranges::find(*tables, "trilobite_store") == tables->end()) {
    return fail(
        fmt::format("{} is a database of something else; name another --store", database.name()));
  }
  const auto rows = database.run("SELECT value FROM trilobite_store WHERE key = 'version'");
  if (!rows) return fail_from(rows);
  const auto version = rows->empty() || !rows->at(0).at(0) ? Result<int64_t>(fail("there is none"))
                                                           : parse_int(*rows->at(0).at(0));
  if (!version || *version < 0)
    return fail(fmt::format("the store {} does not say its version", database.name()));
  return static_cast<size_t>(*version);
}

Result<void> migrate(Database& database, size_t target) {
  auto before = schema_version(database);
  if (before && *before == target) return {};
  if (auto begun = database.begin_writing(); !begun) return begun;
  // Asked again inside the transaction: somebody else may have migrated meanwhile.
  const auto version = schema_version(database);
  Result<void> done;
  if (!version) {
    done = fail_from(version);
  } else if (*version > target) {
    done = std::unexpected(newer_than_known(database, *version));
  } else {
    done = apply(database, *version, target);
  }
  auto ended = database.run(done ? "COMMIT" : "ROLLBACK");
  if (!done) return done;
  if (!ended) return fail_from(ended);
  return {};
}

Result<void> check_readable(Database& database) {
  const auto version = schema_version(database);
  if (!version) return fail_from(version);
  if (*version > kMigrations.size()) return std::unexpected(newer_than_known(database, *version));
  if (*version < kMigrations.size()) {
    return fail(
        fmt::format("the store {} has the older schema {}; the next run that writes to it "
                    "brings it up to date",
                    database.name(), *version));
  }
  return {};
}

}  // namespace trilobite::store
