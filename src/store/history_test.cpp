#include "store/history.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include "record/record_json.hpp"
#include "store/stores_for_test.hpp"

namespace trilobite::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class HistoryStore : public StoreTest {};
class HistoryOfAFile : public StoreTest {};

TEST_F(HistoryStore, a_run_comes_back_as_it_was) {
  auto history = History::open(url_, Access::write).value();
  auto run = run_for_test("r1");
  run.warnings.push_back({"code", "what's \"wrong\"; DROP TABLE runs", "advice \xE2\x82\xAC", ""});
  ASSERT_TRUE(history.add(run));
  EXPECT_EQ(to_json_text(history.run("r1").value()), to_json_text(run));
  const auto runs = history.runs().value();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].commit, "abc");
  EXPECT_TRUE(runs[0].complete);
  EXPECT_THAT(history.run("r2").error().message(), HasSubstr("no run 'r2'"));
}

TEST_F(HistoryStore, adding_a_run_again_replaces_it) {
  auto history = History::open(url_, Access::write).value();
  ASSERT_TRUE(history.add(run_for_test("r1", 100)));
  ASSERT_TRUE(history.add(run_for_test("r1", 200)));
  const auto medians = history.medians().value();
  ASSERT_EQ(medians.size(), 1u);
  EXPECT_DOUBLE_EQ(medians[0].median_ns, 200);
}

TEST_F(HistoryStore, medians_are_ordered_and_leave_out_what_did_not_finish) {
  auto history = History::open(url_, Access::write).value();
  auto late = run_for_test("late", 300);
  late.started_at = "2026-02-01T00:00:00Z";
  auto broken = run_for_test("broken");
  broken.complete = false;
  auto failed = run_for_test("failed");
  failed.benchmarks[0].status = Status::failed;
  failed.benchmarks[0].reason = "crash";
  for (const auto& run : {late, run_for_test("early"), broken, failed})
    ASSERT_TRUE(history.add(run));
  std::vector<std::string> ids;
  const auto points = history.medians().value();
  for (const auto& point : points) ids.push_back(point.run_id);
  EXPECT_THAT(ids, ElementsAre("early", "late"));
  EXPECT_DOUBLE_EQ(points[1].median_ns, 300);
}

TEST_F(HistoryStore, baselines_are_created_updated_listed_and_removed) {
  auto history = History::open(url_, Access::write).value();
  ASSERT_TRUE(history.create(baseline_for_test("b")));
  EXPECT_THAT(history.create(baseline_for_test("b")).error().message(), HasSubstr("already"));
  ASSERT_TRUE(history.update("b", [](Baseline& baseline) -> Result<void> {
    baseline.runs.push_back(run_for_test("second"));
    return {};
  }));
  const auto entries = history.baselines().value();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].runs, 2u);
  EXPECT_EQ(entries[0].description, "the \"first\" one");
  EXPECT_THAT(entries[0].tags, ElementsAre("stable", "v1"));
  EXPECT_EQ(history.baseline("b").value().runs.size(), 2u);
  EXPECT_TRUE(history.remove_baseline("b"));
  EXPECT_FALSE(history.remove_baseline("b"));
  EXPECT_THAT(history.baseline("b").error().message(), HasSubstr("baseline list"));
}

TEST_F(HistoryStore, a_change_that_fails_changes_nothing) {
  auto history = History::open(url_, Access::write).value();
  ASSERT_TRUE(history.create(baseline_for_test("b")));
  EXPECT_FALSE(history.update("b", [](Baseline& baseline) -> Result<void> {
    baseline.runs.push_back(baseline.runs[0]);  // twice the same run
    return {};
  }));
  EXPECT_EQ(history.baseline("b").value().runs.size(), 1u);
  EXPECT_FALSE(history.create(Baseline{}));
}

TEST_F(HistoryStore, self_tests_are_kept) {
  auto history = History::open(url_, Access::write).value();
  ASSERT_TRUE(history.add(History::SelfTestEntry{"s", "2026", "machine", "{}"}));
  EXPECT_EQ(history.self_tests().value().at(0).body, "{}");
}

TEST_F(HistoryStore, several_writers_at_once_lose_nothing) {
  constexpr int kWriters = 4;
  constexpr int kRuns = 10;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t child = ::fork();
    if (child == 0) {
      // Each opens the store itself: also the making of the tables is contended.
      auto history = History::open(url_, Access::write);
      bool fine = history.has_value();
      for (int i = 0; fine && i < kRuns; ++i)
        fine = history->add(run_for_test(fmt::format("w{}-{}", writer, i))).has_value();
      ::_exit(fine ? 0 : 1);
    }
    writers.push_back(child);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    ::waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  auto history = History::open(url_, Access::read).value();
  EXPECT_EQ(history.runs().value().size(), static_cast<size_t>(kWriters * kRuns));
}

TEST_F(HistoryStore, a_killed_writer_leaves_a_readable_store) {
  for (int round = 0; round < 5; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto history = History::open(url_, Access::write);
      for (int i = 0;; ++i) (void)history->add(run_for_test(fmt::format("k{}-{}", round, i)));
    }
    ::usleep(40'000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto history = History::open(url_, Access::write).value();
    // Every run that is there is whole.
    const auto runs = history.runs().value();
    for (const auto& run : runs) ASSERT_TRUE(history.run(run.id)) << run.id;
  }
  auto history = History::open(url_, Access::write).value();
  EXPECT_TRUE(history.add(run_for_test("after")));
}

TEST_F(HistoryStore, what_is_no_store_is_one_sentence) {
  EXPECT_FALSE(History::open("", Access::write));
  EXPECT_THAT(History::open("mysql://x/y", Access::write).error().message(),
              HasSubstr("postgresql://"));
  // Nobody listens on port 1.
  const auto refused = History::open("postgresql://127.0.0.1:1/none", Access::read);
  EXPECT_EQ(refused.error().kind(), ErrorKind::environment);
}

TEST_F(HistoryOfAFile, a_missing_store_is_not_made_by_reading) {
  EXPECT_THAT(History::open(url_, Access::read).error().message(), HasSubstr("no store"));
  EXPECT_FALSE(std::filesystem::exists(url_));
}

TEST_F(HistoryOfAFile, a_file_of_something_else_is_refused_and_unchanged) {
  const std::string content(5000, 'x');
  ASSERT_TRUE(write_file_atomically(url_, content));
  EXPECT_THAT(History::open(url_, Access::write).error().message(), HasSubstr("not a store"));
  EXPECT_EQ(read_file(url_).value(), content);
}

TEST_F(HistoryOfAFile, a_folder_is_an_error_of_the_environment) {
  EXPECT_EQ(History::open(folder_.string(), Access::write).error().kind(), ErrorKind::environment);
}

}  // namespace
}  // namespace trilobite::store
