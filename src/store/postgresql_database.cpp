#include <fmt/format.h>

#include "store/database.hpp"
#include "store/libpq.hpp"

namespace trilobite::store {
namespace {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using QueryResult = std::unique_ptr<PGresult, ClearResult>;

std::string first_line(const char* message) {
  const std::string_view text(message == nullptr ? "unknown failure" : message);
  return std::string(text.substr(0, text.find('\n')));
}

class PostgresqlDatabase final : public Database {
 public:
  explicit PostgresqlDatabase(PGconn* connection) : connection_(connection) {}
  ~PostgresqlDatabase() override { PQfinish(connection_); }
  PostgresqlDatabase(const PostgresqlDatabase&) = delete;
  PostgresqlDatabase& operator=(const PostgresqlDatabase&) = delete;

  Result<std::vector<ResultRow>> run(const std::string& sql,
                                     std::span<const Value> parameters) override {
    std::vector<const char*> texts;
    for (const auto& value : parameters) texts.push_back(value ? value->c_str() : nullptr);
    const QueryResult result(PQexecParams(connection_, sql.c_str(), static_cast<int>(texts.size()),
                                          nullptr, texts.data(), nullptr, nullptr, 0));
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return failure(result.get());
    return rows_of(result.get());
  }

  Result<void> begin_writing() override {
    auto begun = Database::run("BEGIN");
    if (!begun) return fail_from(begun);
    // Serialises the writers of this store, the first of which makes the tables. The number is ours
    // ("trilobit" as bytes) and released when the transaction ends.
    auto locked = Database::run("SELECT pg_advisory_xact_lock(8390876208623870324)");
    if (!locked) return fail_from(locked);
    return {};
  }

  Result<std::vector<std::string>> tables() override {
    return texts(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()");
  }

  std::string name() const override {
    return fmt::format("postgresql://{}:{}/{}", PQhost(connection_), PQport(connection_),
                       PQdb(connection_));
  }

 private:
  static std::vector<ResultRow> rows_of(const PGresult* result) {
    std::vector<ResultRow> rows(static_cast<size_t>(PQntuples(result)));
    for (int row = 0; row < PQntuples(result); ++row) {
      for (int column = 0; column < PQnfields(result); ++column) {
        const bool null = PQgetisnull(result, row, column) == 1;
        const auto size = static_cast<size_t>(PQgetlength(result, row, column));
        rows[static_cast<size_t>(row)].push_back(
            null ? Value() : Value(std::string(PQgetvalue(result, row, column), size)));
      }
    }
    return rows;
  }

  std::unexpected<Error> failure(const PGresult* result) const {
    // Classes of SQLSTATE: 08 connection, 25 read-only transaction, 42501 privilege, 53 no room, 55
    // locked, 57 the operator intervened.
    const char* field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string_view state(field == nullptr ? "08000" : field);
    const bool machine = state.starts_with("08") || state.starts_with("25") ||
                         state.starts_with("53") || state.starts_with("55") ||
                         state.starts_with("57") || state == "42501";
    return fail(fmt::format("the store {}: {}", name(), first_line(PQerrorMessage(connection_))),
                machine ? ErrorKind::environment : ErrorKind::input);
  }

  PGconn* connection_;
};

}  // namespace

Result<std::unique_ptr<Database>> open_postgresql(const std::string& url) {
  if (auto loaded = libpq.load(); !loaded) return fail_from(loaded, "--store");
  char* problem = nullptr;
  PQconninfoOption* parsed = PQconninfoParse(url.c_str(), &problem);
  if (parsed == nullptr) {
    const auto message = first_line(problem);
    PQfreemem(problem);
    return fail(fmt::format("--store: {}", message));
  }
  PQconninfoFree(parsed);
  // A server that does not answer is an error after ten seconds, not a hang.
  const char* keys[] = {"dbname", "connect_timeout", "client_encoding", nullptr};
  const char* values[] = {url.c_str(), "10", "UTF8", nullptr};
  PGconn* connection = PQconnectdbParams(keys, values, 1);
  auto database = std::make_unique<PostgresqlDatabase>(connection);
  if (PQstatus(connection) != CONNECTION_OK) {
    return fail(fmt::format("cannot open the store: {}", first_line(PQerrorMessage(connection))),
                ErrorKind::environment);
  }
  PQsetNoticeProcessor(connection, [](void*, const char*) {}, nullptr);  // libraries do not print
  return database;
}

}  // namespace trilobite::store
