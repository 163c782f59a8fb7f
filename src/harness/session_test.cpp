#include "harness/session.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "harness/fakes_for_test.hpp"

namespace trilobite {
namespace {

using std::chrono::milliseconds;

class SessionTest : public testing::Test {
 protected:
  void add(const std::string& operation, std::function<void(Bench&)> body) {
    definitions_.push_back(
        {"test", operation, [] { return std::vector<Case>{Case()}; }, std::move(body)});
  }
  std::vector<BenchmarkResult> run(bool isolated) {
    selection_ = select_benchmarks(definitions_, {}).value();
    Collector collector(selection_, plan_, nullptr);
    Session session{selection_, plan_, collector, hooks_};
    if (isolated) {
      end_ = run_isolated(session).value();
    } else {
      end_ = run_in_process(session, clock_, noise_, nullptr);
    }
    return collector.results();
  }
  FakeClock clock_;
  FakeNoise noise_;
  std::vector<BenchmarkDefinition> definitions_;
  std::vector<SelectedBenchmark> selection_;
  SamplingPlan plan_{
      .samples = 6, .rounds = 3, .warm_up = milliseconds(1), .measurement = milliseconds(6)};
  SessionHooks hooks_;
  SessionEnd end_ = SessionEnd::interrupted;
};

TEST_F(SessionTest, setup_check_warm_up_and_samples_come_in_that_order_and_the_check_comes_once) {
  std::string story;
  add("op", [&](Bench& p) {
    story += "setup ";
    p.verify([&] { return story += "verify ", true; });
    p.measure([&] {
      if (!story.ends_with("measure ")) story += "measure ";
      clock_.advance(1000);
    });
    story += "teardown ";
  });
  const auto results = run(false);
  EXPECT_EQ(story, "setup verify measure teardown setup measure teardown setup measure teardown ");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].status, Status::ok);
  EXPECT_EQ(results[0].samples_ns.size(), 6u);
  EXPECT_EQ(results[0].iterations_per_sample, 1000u);  // 6 ms / 6 samples / 1 us
  EXPECT_DOUBLE_EQ(results[0].statistics->median, 1000);
  EXPECT_TRUE(results[0].check->passed);
}

TEST_F(SessionTest, setup_and_teardown_are_not_in_the_time) {
  add("op", [&](Bench& p) {
    clock_.advance(1'000'000'000);
    p.measure([&] { clock_.advance(500); });
    clock_.advance(1'000'000'000);
  });
  EXPECT_DOUBLE_EQ(run(false)[0].statistics->max, 500);
}

TEST_F(SessionTest, figures_reach_the_result_also_out_of_a_child_process) {
  add("op", [&](Bench& p) {
    p.verify([&] { return p.figure("snr_db", 45.25), true; });  // in the first round only
    p.measure([&] { clock_.advance(1000); });
  });
  for (const bool isolated : {false, true}) {
    EXPECT_EQ(run(isolated)[0].figures, (std::map<std::string, double>{{"snr_db", 45.25}}));
  }
}

TEST_F(SessionTest, a_wrong_answer_is_never_timed) {
  int timed = 0;
  add("op", [&](Bench& p) {
    p.verify([] {
      Verification verification(false);
      verification.reference = "reference device";
      verification.max_error = 0.5;
      verification.tolerance = 0.1;
      verification.cosine = 0.25;
      return verification;
    });
    p.measure([&] { ++timed; });
  });
  const auto results = run(false);
  EXPECT_EQ(timed, 0);
  EXPECT_EQ(results[0].status, Status::failed);
  EXPECT_EQ(results[0].reason,
            "wrong output: differs from reference device by 0.5, allowed is 0.1; the cosine is "
            "0.250000");
}

TEST_F(SessionTest, skips_and_exceptions_have_their_reasons) {
  add("skips", [](Bench& p) { p.skip("no such device"); });
  add("throws", [](Bench&) { throw std::runtime_error("no memory"); });
  add("forgets", [](Bench&) {});
  const auto results = run(false);
  EXPECT_EQ(results[0].status, Status::skipped);
  EXPECT_EQ(results[0].reason, "no such device");
  EXPECT_EQ(results[1].reason, "the benchmark threw: no memory");
  EXPECT_EQ(results[2].reason, "the benchmark never called measure()");
}

TEST_F(SessionTest, a_user_who_stops_keeps_what_was_measured) {
  add("one", [&](Bench& p) { p.measure([&] { clock_.advance(1000); }); });
  add("two", [&](Bench& p) { p.measure([&] { clock_.advance(1000); }); });
  int visits = 0;
  hooks_.on_end = [&](const Step&) { ++visits; };
  hooks_.should_stop = [&] { return visits == 3; };
  const auto results = run(false);
  EXPECT_EQ(end_, SessionEnd::interrupted);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].samples_ns.size() + results[1].samples_ns.size(), 6u);
}

TEST_F(SessionTest, in_a_child_process_crashes_and_hangs_cost_one_benchmark_each) {
  plan_.timeout = milliseconds(400);
  const auto spin = [](Bench& p) { p.measure([] { return 1; }); };
  add("first", spin);
  add("crashes", [](Bench& p) { p.measure([] { ::kill(::getpid(), SIGKILL); }); });
  add("second", spin);
  add("hangs", [](Bench&) {
    while (true) ::pause();
  });
  add("exits", [](Bench&) { ::_exit(5); });
  add("third", spin);
  const auto results = run(true);
  EXPECT_EQ(end_, SessionEnd::finished);
  ASSERT_EQ(results.size(), 6u);
  for (const auto& result : results) {
    if (result.operation == "crashes") {
      EXPECT_EQ(result.reason, "its process was killed by signal 9 (Killed)");
    } else if (result.operation == "hangs") {
      EXPECT_EQ(result.status, Status::timeout);
    } else if (result.operation == "exits") {
      EXPECT_EQ(result.reason, "its process exited with status 5");
    } else {
      EXPECT_EQ(result.status, Status::ok) << result.operation << ": " << result.reason;
      EXPECT_EQ(result.samples_ns.size(), 6u);
    }
  }
}

TEST_F(SessionTest, what_a_benchmark_prints_does_not_reach_standard_output) {
  add("op", [](Bench& p) {
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, "noise", 5);
    p.measure([] { return 1; });
  });
  testing::internal::CaptureStdout();
  run(true);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace trilobite
