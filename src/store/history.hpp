#pragma once
// The history: every run, every baseline, in one store. Adding is one transaction: a writer that is
// killed leaves the store as it was, writers at the same time wait for each other.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record/baseline.hpp"
#include "record/record.hpp"
#include "store/database.hpp"

namespace trilobite::store {

/// A run without its results.
struct RunEntry {
  std::string id;
  std::string started_at;
  bool complete = false;
  std::string version;
  std::string commit;
  std::string platform;
  std::string fingerprint;
};

/// The median of one benchmark in one run.
struct HistoryPoint {
  std::string run_id;
  std::string started_at;
  std::string commit;
  std::string fingerprint;
  std::string benchmark;
  double median_ns = 0;
};

/// A baseline without its runs.
struct BaselineEntry {
  std::string id;
  std::string description;
  std::vector<std::string> tags;
  std::string created_at;
  std::string updated_at;
  std::string platform;
  std::string fingerprint;
  std::string version;
  std::string commit;
  size_t runs = 0;
};

class History {
 public:
  /// A path or sqlite:PATH, or postgresql://... (also postgres://). Opening to write makes a
  /// missing SQLite file and brings older ones up to date.
  static Result<History> open(const std::string& url, Access access);

  /// Adds a run, or replaces the one with its id.
  Result<void> add(const RunRecord& record);
  Result<std::vector<RunEntry>> runs();
  Result<RunRecord> run(const std::string& id);
  /// All benchmarks with status ok of complete runs, by benchmark, then by time.
  Result<std::vector<HistoryPoint>> medians();

  /// Fails when a baseline of that name exists.
  Result<void> create(const Baseline& baseline);
  /// Replaces the baseline `id` by what `change` makes of it, in one transaction.
  Result<void> update(const std::string& id, const std::function<Result<void>(Baseline&)>& change);
  Result<void> remove_baseline(const std::string& id);
  Result<Baseline> baseline(const std::string& id);
  Result<std::vector<BaselineEntry>> baselines();

  /// Keeps the answer of a self-test (JSON text).
  struct SelfTestEntry {
    std::string id;
    std::string at;
    std::string fingerprint;
    std::string body;
  };
  Result<void> add(const SelfTestEntry& entry);
  Result<std::vector<SelfTestEntry>> self_tests();

  std::string name() const { return database_->name(); }

 private:
  explicit History(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  /// Runs `work` inside one transaction of this writer alone.
  Result<void> written(const std::function<Result<void>()>& work);
  Result<void> execute(const std::string& sql, std::vector<Value> parameters);
  Result<void> insert_results(const RunRecord& record);

  std::unique_ptr<Database> database_;
};

}  // namespace trilobite::store
