#include "measure/run_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trilobite {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(RunProgram, both_streams_and_the_status_come_back) {
  const auto done = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"}, 30s);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->output, "out\n");
  EXPECT_EQ(done->errors, "err\n");
  EXPECT_EQ(done->status, 3);
  EXPECT_GT(done->wall_ns, 0);
  EXPECT_GT(done->peak_resident_bytes, 100'000U);
}

TEST(RunProgram, more_than_a_pipe_holds_is_read) {
  const auto done = run_program({"sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x"}, 30s);
  EXPECT_EQ(done.value().output.size(), 300'000U);
}

TEST(RunProgram, it_gets_no_input_and_a_signal_is_told) {
  EXPECT_EQ(run_program({"cat"}, 30s).value().output, "");
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}, 30s).value().status, 137);
}

TEST(RunProgram, what_cannot_be_run_or_does_not_end_is_an_error) {
  EXPECT_THAT(run_program({"/no/such/program"}, 30s).error().message(),
              HasSubstr("/no/such/program"));
  EXPECT_THAT(run_program({"sleep", "60"}, 100ms).error().message(), HasSubstr("100ms"));
}

}  // namespace
}  // namespace trilobite
