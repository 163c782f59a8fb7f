#include "measure/environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace trilobite {
namespace {

bool has(const std::vector<Warning>& warnings, std::string_view code) {
  return std::ranges::any_of(warnings,
                             [&](const Warning& warning) { return warning.code == code; });
}

BuildInfo good_build() { return {.build_type = "Release", .optimized = true}; }

Environment quiet_machine() {
  Environment environment;
  environment.governor = "performance";
  environment.turbo = "off";
  environment.virtualization = "none";
  environment.counters = "available";
  return environment;
}

TEST(Doubts, a_quiet_fixed_machine_has_none) {
  EXPECT_TRUE(doubts_about(quiet_machine(), good_build()).empty());
}

TEST(Doubts, each_cause_is_named_with_advice) {
  auto environment = quiet_machine();
  environment.governor = "powersave";
  environment.turbo = "on";
  environment.virtualization = "virtual machine (X)";
  environment.counters = "unavailable: No such file or directory";
  environment.cpu.logical_cpus = 8;
  environment.cpu.physical_cores = 4;
  environment.load_at_start = 3;
  const auto doubts = doubts_about(environment, {.build_type = "Debug"});
  for (const char* code : {"governor", "turbo", "virtualized", "no-counters", "hyper-threads",
                           "load", "unoptimized-build"}) {
    EXPECT_TRUE(has(doubts, code)) << code;
  }
  for (const auto& doubt : doubts) EXPECT_FALSE(doubt.advice.empty()) << doubt.code;
}

TEST(Doubts, stolen_time_counts_above_one_percent) {
  EXPECT_TRUE(doubts_about_steal(0.005).empty());
  EXPECT_TRUE(has(doubts_about_steal(0.02), "steal"));
}

TEST(Environment, files_of_the_kernel_are_read) {
  const Path root = Path(testing::TempDir()) / "trilobite_environment_test";
  ASSERT_TRUE(write_file_atomically(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                                    "powersave\n"));
  ASSERT_TRUE(write_file_atomically(root / "sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"));
  ASSERT_TRUE(write_file_atomically(root / "etc/os-release", "ID=x\nPRETTY_NAME=\"Some Linux\"\n"));
  ASSERT_TRUE(write_file_atomically(root / "proc/loadavg", "0.25 0.1 0.1 1/100 1\n"));
  const auto environment = read_environment(root);
  EXPECT_EQ(environment.governor, "powersave");
  EXPECT_EQ(environment.turbo, "on");
  EXPECT_EQ(environment.os, "Some Linux");
  EXPECT_DOUBLE_EQ(environment.load_at_start, 0.25);
  std::filesystem::remove_all(root);
}

TEST(Environment, the_fingerprint_is_stable_and_follows_the_hardware) {
  EXPECT_EQ(read_environment().fingerprint, read_environment().fingerprint);
  EXPECT_NE(read_environment().fingerprint, read_environment("/nowhere").fingerprint);
}

}  // namespace
}  // namespace trilobite
