#pragma once
// Which store a command uses: --store, else TRILOBITE_STORE, else results/history.sqlite.

#include <string>

#include "cli/command_line.hpp"
#include "store/history.hpp"

namespace trilobite::cli {

void add_store_option(CLI::App& app, std::string& store);

/// The store to use; empty when it is "none".
std::string store_named(const std::string& flag);

/// Opens the store that the flag, the environment or the default names; "none" is an error here.
Result<store::History> open_store(const std::string& flag, store::Access access);

/// As store_named, after trying that it can be written. The default store is a service, not a
/// condition: where it cannot be written a warning says so and the answer is empty.
Result<std::string> writable_store(const std::string& flag);

/// Keeps a run in the store of that name; does nothing when the name is empty.
Result<void> keep_run(const std::string& store, const RunRecord& record);

/// A run or a pool of runs, wherever it is: a record file, a baseline file, a baseline of the
/// store, or a run of it.
Result<Baseline> load_pool(const std::string& name, const std::string& store);

}  // namespace trilobite::cli
