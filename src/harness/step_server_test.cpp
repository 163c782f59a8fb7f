#include "harness/step_server.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include "harness/step_client.hpp"

namespace trilobite {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<BenchmarkDefinition> definitions() {
  const auto one_case = [] { return std::vector{Case()}; };
  return {
      {"t", "good", one_case, [](Bench& p) { p.measure([] {}); }},
      {"t", "wrong", one_case,
       [](Bench& p) {
         p.verify([] { return false; });
         p.measure([] {});
       }},
      {"t", "throws", one_case, [](Bench&) { throw std::runtime_error("two\nlines"); }},
      {"t", "skips", one_case, [](Bench& p) { p.skip("no device"); }},
      {"t", "silent", one_case, [](Bench&) {}},
  };
}

/// The answers to `requests`, asked one after the other.
std::vector<std::string> answers_to(const std::vector<std::string>& requests) {
  const auto all = definitions();
  auto child =
      ChildProcess::start([&](ChildChannel& channel) { serve_steps(channel, all); }).value();
  std::vector<std::string> answers;
  for (const auto& request : requests) {
    EXPECT_TRUE(child.send(request));
    std::string line;
    EXPECT_EQ(child.receive(line, std::chrono::seconds(20)), ChildProcess::Reading::line);
    answers.push_back(line);
  }
  return answers;
}

TEST(StepServer, a_benchmark_is_opened_stepped_and_closed) {
  const auto answers = answers_to({"trilobite-step 1", "open 1 42 t/good/-/-/-", "step 1000",
                                   "step 1", "close", "open 1 42 t/good/-/-/-", "step 2"});
  EXPECT_EQ(answers[0], "ok fresh");
  EXPECT_EQ(answers[1], "ok");
  EXPECT_THAT(answers[2], StartsWith("ok "));
  EXPECT_EQ(answers[4], "ok");
  EXPECT_THAT(answers[6], StartsWith("ok "));
}

TEST(StepServer, what_cannot_be_stepped_is_an_error_with_its_reason) {
  EXPECT_THAT(answers_to({"open 1 42 t/wrong/-/-/-"})[0], HasSubstr("wrong output"));
  EXPECT_THAT(answers_to({"open 1 42 t/throws/-/-/-"})[0], HasSubstr("two lines"));
  EXPECT_THAT(answers_to({"open 1 42 t/skips/-/-/-"})[0], HasSubstr("no device"));
  EXPECT_THAT(answers_to({"open 1 42 t/silent/-/-/-"})[0], HasSubstr("measure()"));
  EXPECT_THAT(answers_to({"open 1 42 t/none/-/-/-"})[0], HasSubstr("there is no"));
}

TEST(StepServer, odd_requests_do_not_end_it) {
  const auto answers = answers_to({"", "dance", "trilobite-step 9", "open", "open 0 0 x", "step 5",
                                   "open 1 1 t/good/-/-/-", "step -1", "step x", "list", "step 1"});
  for (const size_t i : std::initializer_list<size_t>{0, 1, 2, 3, 4, 5, 7, 8, 9})
    EXPECT_THAT(answers[i], StartsWith("error ")) << i;
  EXPECT_THAT(answers[10], StartsWith("ok "));
}

Result<StepClient> client_of(const std::string& script, int milliseconds = 5000) {
  ::signal(SIGPIPE, SIG_IGN);  // as our programs do: a child that went away is an error code
  return StepClient::start("candidate", {"/bin/sh", "-c", script},
                           std::chrono::milliseconds(milliseconds));
}

TEST(StepClient, speaks_with_any_program) {
  auto client = client_of(
      "read a; echo ok; read a; echo ok; echo '- x y'; echo .; read a; echo ok; read a; echo ok 5 "
      "4");
  ASSERT_TRUE(client) << client.error().message();
  EXPECT_THAT(client->list().value(), testing::ElementsAre("x y"));
  EXPECT_TRUE(client->open({.id = "x y"}));
  EXPECT_EQ(client->step(3).value().wall_ns, 5);
  // Then it ends.
  EXPECT_THAT(client->step(3).error().message(), HasSubstr("candidate exited with status 0"));
}

TEST(StepClient, programs_that_misbehave_are_one_sentence) {
  EXPECT_THAT(client_of("read a; echo hello").error().message(), HasSubstr("answered 'hello'"));
  EXPECT_THAT(client_of("exit 3").error().message(), HasSubstr("exited with status 3"));
  EXPECT_THAT(client_of("read a; kill -SEGV $$").error().message(), HasSubstr("signal 11"));
  EXPECT_THAT(client_of("sleep 100", 100).error().message(), HasSubstr("did not answer"));
  for (const std::string answer : {"ok", "ok -1 1", "ok x", "ok 0 0", "ok 5 x", "ok nan"}) {
    auto client = client_of("read a; echo ok; read a; echo '" + answer + "'");
    EXPECT_THAT(client->step(1).error().message(), HasSubstr("answered")) << answer;
  }
  auto endless = client_of("read a; echo ok; read a; echo ok; echo nonsense; sleep 100");
  EXPECT_THAT(endless->list().error().message(), HasSubstr("nonsense"));
  EXPECT_THAT(
      StepClient::start("base", {"/no/such/program"}, std::chrono::seconds(1)).error().message(),
      HasSubstr("cannot run '/no/such/program'"));
}

}  // namespace
}  // namespace trilobite
