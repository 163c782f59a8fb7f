#pragma once
// The few things that the store asks of a database, and its two implementations: SQLite for one
// machine, PostgreSQL for a team. Both speak the same SQL; parameters are $1, $2, ... and every
// value travels as text.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"

namespace trilobite::store {

using Value = std::optional<std::string>;  // nothing: NULL
using ResultRow = std::vector<Value>;

/// One connection; not for several threads. The destructor rolls back what was not committed.
class Database {
 public:
  virtual ~Database() = default;
  /// Runs one statement. Failures of the machine (read-only, locked, full, unreachable) are
  /// ErrorKind::environment.
  virtual Result<std::vector<ResultRow>> run(const std::string& sql,
                                             std::span<const Value> parameters) = 0;
  /// Begins a transaction that no other writer can interleave with.
  virtual Result<void> begin_writing() = 0;
  /// The names of all tables.
  virtual Result<std::vector<std::string>> tables() = 0;
  /// For messages: the path, or the URL without its password.
  virtual std::string name() const = 0;

  Result<std::vector<ResultRow>> run(const std::string& sql) { return run(sql, {}); }

 protected:
  /// The first column of what `sql` answers.
  Result<std::vector<std::string>> texts(const std::string& sql);
};

enum class Access { read, write };

/// Opens a file; only with Access::write is one made when it is missing.
Result<std::unique_ptr<Database>> open_sqlite(const Path& path, Access access);
/// postgresql://user:password@host:port/database, as libpq reads it.
Result<std::unique_ptr<Database>> open_postgresql(const std::string& url);

}  // namespace trilobite::store
