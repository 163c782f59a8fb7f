#pragma once
// A new, empty store for each test: a SQLite file, or a schema of the PostgreSQL server that the
// environment variable TRILOBITE_TEST_POSTGRESQL names (tests/store/with_postgresql.py sets it).

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "record/baseline.hpp"
#include "store/database.hpp"

namespace trilobite::store {

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const auto name = std::string("trilobite_") + test->test_suite_name() + "_" + test->name() +
                      "_" + std::to_string(::getpid());
    const char* server = std::getenv("TRILOBITE_TEST_POSTGRESQL");
    if (server == nullptr) {
      folder_ = std::filesystem::temp_directory_path() / name;
      std::filesystem::remove_all(folder_);
      std::filesystem::create_directories(folder_);
      url_ = (folder_ / "history.sqlite").string();
    } else {
      auto database = open_postgresql(server).value();
      EXPECT_TRUE(database->run("CREATE SCHEMA \"" + name + "\""));
      url_ = std::string(server) + "?options=-csearch_path%3D%22" + name + "%22";
    }
  }
  ~StoreTest() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  Result<std::unique_ptr<Database>> open_database() const {
    return folder_.empty() ? open_postgresql(url_) : open_sqlite(url_, Access::write);
  }

  std::string url_;
  std::filesystem::path folder_;
};

/// One benchmark with samples around `median_ns`.
inline RunRecord run_for_test(const std::string& id, double median_ns = 100) {
  RunRecord record;
  record.id = id;
  record.started_at = "2026-01-02T03:04:05Z";
  record.complete = true;
  record.version = "0.1.0";
  record.git.commit = "abc";
  record.environment.platform = "linux-x86_64";
  record.environment.fingerprint = "machine-1";
  BenchmarkResult result;
  result.id = "s/o/f32/cpu/1";
  result.suite = "s";
  result.operation = "o";
  result.dtype = "f32";
  result.device = "cpu";
  result.shape = "1";
  result.iterations_per_sample = 10;
  result.samples_ns = {median_ns * 0.99, median_ns, median_ns * 1.01};
  result.samples_per_round = {3};
  TimeStatistics statistics;
  statistics.median = statistics.mean = statistics.p50 = median_ns;
  statistics.min = result.samples_ns.front();
  statistics.max = statistics.p95 = statistics.p99 = result.samples_ns.back();
  result.statistics = statistics;
  record.benchmarks.push_back(result);
  return record;
}

inline Baseline baseline_for_test(const std::string& id) {
  Baseline baseline = baseline_of(run_for_test("run-of-" + id));
  baseline.id = id;
  baseline.description = "the \"first\" one";
  baseline.tags = {"stable", "v1"};
  return baseline;
}

}  // namespace trilobite::store
