#include "cli/store_option.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "base/json.hpp"
#include "base/log.hpp"
#include "record/record_json.hpp"

namespace trilobite::cli {
namespace {

constexpr const char* kDefaultStore = "results/history.sqlite";

Result<Baseline> pool_in_file(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return fail_from(text);
  const auto json = parse_json(*text);
  if (!json) return fail_from(json, path);
  const bool pooled = json->is_object() && json->contains("schema") &&
                      json->at("schema").is_string() &&
                      json->at("schema").get<std::string>().starts_with("trilobite.baseline/");
  if (pooled) {
    auto baseline = baseline_from_json_text(*text);
    if (!baseline) return fail_from(baseline, path);
    return baseline;
  }
  auto record = record_from_json_text(*text);
  if (!record) return fail_from(record, path);
  if (record->benchmarks.empty()) return fail(fmt::format("{}: the record is empty", path));
  return baseline_of(*std::move(record));
}

}  // namespace

void add_store_option(CLI::App& app, std::string& store) {
  app.add_option("--store", store,
                 "the history: a SQLite file, postgresql://..., or none (default: "
                 "TRILOBITE_STORE, else results/history.sqlite)");
}

std::string store_named(const std::string& flag) {
  const char* variable = std::getenv("TRILOBITE_STORE");
  const std::string name = !flag.empty()                              ? flag
                           : variable != nullptr && *variable != '\0' ? variable
                                                                      : kDefaultStore;
  return name == "none" ? "" : name;
}

Result<store::History> open_store(const std::string& flag, store::Access access) {
  const auto name = store_named(flag);
  if (name.empty()) return fail("this needs a store, and the store is 'none'");
  return store::History::open(name, access);
}

Result<std::string> writable_store(const std::string& flag) {
  const auto name = store_named(flag);
  if (name.empty()) return name;
  // Closed again at once: no connection may be alive when a measuring child is forked.
  const auto opened = store::History::open(name, store::Access::write);
  if (opened) return name;
  if (name != kDefaultStore || opened.error().kind() != ErrorKind::environment)
    return fail_from(opened);
  log::warn("this run is not kept in the history: {}", opened.error().message());
  return "";
}

Result<void> keep_run(const std::string& store, const RunRecord& record) {
  if (store.empty()) return {};
  auto history = store::History::open(store, store::Access::write);
  if (!history) return fail_from(history);
  return history->add(record);
}

Result<Baseline> load_pool(const std::string& name, const std::string& store) {
  std::error_code code;
  if (std::filesystem::exists(name, code) && !std::filesystem::is_directory(name, code))
    return pool_in_file(name);
  const auto where = store_named(store);
  if (where.empty() ||
      (where.find("://") == std::string::npos && !std::filesystem::exists(where, code))) {
    return fail(
        fmt::format("there is no file '{}', and no store that could have a baseline of "
                    "that name",
                    name));
  }
  auto history = store::History::open(where, store::Access::read);
  if (!history) return fail_from(history);
  auto baseline = history->baseline(name);
  if (baseline) return baseline;
  auto run = history->run(name);
  if (run) return baseline_of(*std::move(run));
  return fail(fmt::format("'{}' is neither a file nor a baseline or run in the store {}", name,
                          history->name()));
}

}  // namespace trilobite::cli
