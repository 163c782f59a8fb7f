#include "harness/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace trilobite {
namespace {

using std::chrono::seconds;
using Reading = ChildProcess::Reading;

TEST(ChildProcess, lines_go_both_ways) {
  auto child = ChildProcess::start([](ChildChannel& channel) {
                 while (const auto line = channel.receive()) channel.send("<" + *line + ">");
               }).value();
  std::string line;
  const std::string large(300'000, 'x');
  ASSERT_TRUE(child.send("a"));
  ASSERT_EQ(child.receive(line, seconds(10)), Reading::line);
  EXPECT_EQ(line, "<a>");
  ASSERT_TRUE(child.send(large));
  ASSERT_EQ(child.receive(line, seconds(10)), Reading::line);
  EXPECT_EQ(line, "<" + large + ">");
}

// SIGKILL, because sanitizers turn other signals into an exit.
TEST(ChildProcess, a_crash_is_seen_and_named) {
  auto child = ChildProcess::start([](ChildChannel&) { ::kill(::getpid(), SIGKILL); }).value();
  std::string line;
  EXPECT_EQ(child.receive(line, seconds(10)), Reading::closed);
  EXPECT_EQ(child.wait(), "was killed by signal 9 (Killed)");
}

TEST(ChildProcess, an_early_exit_is_seen_and_named) {
  auto child = ChildProcess::start([](ChildChannel&) { ::_exit(7); }).value();
  std::string line;
  EXPECT_EQ(child.receive(line, seconds(10)), Reading::closed);
  EXPECT_EQ(child.wait(), "exited with status 7");
}

TEST(ChildProcess, a_hang_is_a_timeout_and_the_destructor_ends_it) {
  auto child = ChildProcess::start([](ChildChannel& channel) {
                 channel.receive();
                 while (true) ::pause();
               }).value();
  std::string line;
  EXPECT_EQ(child.receive(line, std::chrono::milliseconds(30)), Reading::timeout);
}

TEST(ChildProcess, what_a_program_started_ends_with_it) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans come to us, so that their end can be awaited
  for (const std::string end : {"wait", "exit 0"}) {
    std::string line;
    {
      auto child = ChildProcess::spawn({"sh", "-c", "sleep 1000 & echo $!; " + end}).value();
      ASSERT_EQ(child.receive(line, seconds(10)), Reading::line);
    }
    int status = 0;
    const auto orphan = static_cast<pid_t>(std::stol(line));
    ASSERT_EQ(::waitpid(orphan, &status, 0), orphan) << end;
    EXPECT_EQ(WTERMSIG(status), SIGKILL) << end;
  }
}

TEST(CallInChild, returns_the_text_or_the_reason) {
  EXPECT_EQ(call_in_child([] { return std::string("hello"); }, seconds(10)).value(), "hello");
  const auto crashed = call_in_child([]() -> std::string { ::_exit(3); }, seconds(10));
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().message(), "the helper process exited with status 3");
}

TEST(ChildProcess, one_that_closes_its_output_and_stays_is_ended) {
  auto child = ChildProcess::spawn({"/bin/sh", "-c", "exec >&-; sleep 60"}).value();
  std::string line;
  EXPECT_EQ(child.receive(line, std::chrono::seconds(10)), ChildProcess::Reading::closed);
  EXPECT_EQ(child.wait(), "closed its output but did not end, and was killed");
}

}  // namespace
}  // namespace trilobite
