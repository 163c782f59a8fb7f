#include <fmt/format.h>
#include <sqlite3.h>

#include "store/database.hpp"

namespace trilobite::store {
namespace {

// Another writer holds the lock for milliseconds; whoever waits this long waits for a stuck one.
constexpr int kBusyMilliseconds = 15'000;

ErrorKind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_NOMEM: return ErrorKind::environment;
    default: return ErrorKind::input;
  }
}

std::string_view advice_for(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "; another program holds it, try again when that has finished";
    case SQLITE_READONLY:
      return "; it can be read but not written here, name another one with --store";
    case SQLITE_FULL: return "; make room on the disk, nothing was changed";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return "; it is not a store of trilobite, or it is damaged";
    default: return "";
  }
}

class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(std::span<const Value> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      // A parameter that occurs twice in the text is one parameter.
      const int place = sqlite3_bind_parameter_index(statement_, fmt::format("${}", i + 1).c_str());
      if (place == 0) continue;
      if (values[i]) {
        sqlite3_bind_text(statement_, place, values[i]->data(), static_cast<int>(values[i]->size()),
                          SQLITE_STATIC);
      } else {
        sqlite3_bind_null(statement_, place);
      }
    }
  }

  int step() { return sqlite3_step(statement_); }

  ResultRow row() const {
    ResultRow row;
    for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, i));
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, i));
      row.push_back(text == nullptr ? Value() : Value(std::string(text, size)));
    }
    return row;
  }

 private:
  sqlite3_stmt* statement_;
};

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(sqlite3* connection, std::string name)
      : connection_(connection), name_(std::move(name)) {}
  ~SqliteDatabase() override { sqlite3_close(connection_); }
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  Result<std::vector<ResultRow>> run(const std::string& sql,
                                     std::span<const Value> parameters) override {
    sqlite3_stmt* prepared = nullptr;
    const int code = sqlite3_prepare_v2(connection_, sql.c_str(), -1, &prepared, nullptr);
    if (code != SQLITE_OK) return failure(code);
    Statement statement(prepared);
    statement.bind(parameters);
    std::vector<ResultRow> rows;
    for (;;) {
      const int stepped = statement.step();
      if (stepped == SQLITE_DONE) return rows;
      if (stepped != SQLITE_ROW) return failure(stepped);
      rows.push_back(statement.row());
    }
  }

  Result<void> begin_writing() override {
    auto begun = run("BEGIN IMMEDIATE", {});
    if (!begun) return fail_from(begun);
    return {};
  }

  Result<std::vector<std::string>> tables() override {
    return texts("SELECT name FROM sqlite_master WHERE type = 'table'");
  }

  std::string name() const override { return name_; }

 private:
  std::unexpected<Error> failure(int code) const {
    return fail(
        fmt::format("the store {}: {}{}", name_, sqlite3_errmsg(connection_), advice_for(code)),
        kind_of(code));
  }

  sqlite3* connection_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<Database>> open_sqlite(const Path& path, Access access) {
  std::error_code code;
  if (access == Access::read && !std::filesystem::exists(path, code)) {
    return fail(fmt::format("there is no store {}; `trilobite bench` makes one", path.string()));
  }
  if (access == Access::write && path.has_parent_path())
    std::filesystem::create_directories(path.parent_path(), code);
  sqlite3* connection = nullptr;
  const int flags =
      access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int opened = sqlite3_open_v2(path.c_str(), &connection, flags, nullptr);
  auto database = std::make_unique<SqliteDatabase>(connection, path.string());
  if (opened != SQLITE_OK) {
    return fail(fmt::format("cannot open the store {}: {}", path.string(), sqlite3_errstr(opened)),
                kind_of(opened));
  }
  sqlite3_busy_timeout(connection, kBusyMilliseconds);
  return database;
}

}  // namespace trilobite::store
