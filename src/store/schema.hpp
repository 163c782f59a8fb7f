#pragma once
// The tables of a store, as the migrations that lead to them. A store knows how many it has seen;
// opening it for writing applies the rest.

#include <span>
#include <string>

#include "store/database.hpp"

namespace trilobite::store {

/// Migration i leads from version i to version i + 1. Published ones are never changed.
struct Migration {
  std::span<const std::string_view> statements;
};
std::span<const Migration> migrations();

/// 0 for an empty database. An error when it holds tables of somebody else.
Result<size_t> schema_version(Database& database);

/// Brings an empty or older store up to `target`; concurrent callers do it once.
Result<void> migrate(Database& database, size_t target = migrations().size());

/// Fails when the store is newer than this program, or older where it may only be read.
Result<void> check_readable(Database& database);

}  // namespace trilobite::store
