// Compares every device with the reference: every operation, every element type, every instruction
// set that the device takes, several thread counts. A new device in the list is covered by itself.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "device/device_list.hpp"
#include "device/isa_level.hpp"
#include "device/op_cases.hpp"
#include "device/op_check.hpp"

namespace trilobite {
namespace {

struct Target {
  std::string_view device;
  std::string isa;  // empty: the device's choice
};

/// For the messages of the test framework.
void PrintTo(const Target& target, std::ostream* out) { *out << target.device << target.isa; }

std::string target_name(const testing::TestParamInfo<Target>& info) {
  const auto& isa = info.param.isa;
  return std::string(info.param.device) + "_" + (isa.empty() ? "best" : isa);
}

/// Each runs in its own process under ctest, because some libraries fix the instruction set once.
std::vector<Target> targets() {
  std::vector<Target> targets;
  for (const auto& entry : all_devices()) {
    if (entry.name == "reference" || !entry.why_unavailable().empty()) continue;
    targets.push_back({entry.name, ""});
    auto narrower = levels_of(read_cpu_info());
    narrower.pop_back();  // the highest is the device's choice already
    for (const auto level : narrower) targets.push_back({entry.name, std::string(name_of(level))});
    targets.push_back({entry.name, "scalar"});
  }
  return targets;
}

class AllOps : public testing::TestWithParam<Target> {
 protected:
  /// One device per thread count; empty when the device does not take the instruction set.
  void SetUp() override {
    for (const unsigned threads : {1u, 2u, 3u}) {
      auto device = open_device(GetParam().device, {.threads = threads, .isa = GetParam().isa});
      if (!device && !GetParam().isa.empty()) GTEST_SKIP() << device.error().message();
      ASSERT_TRUE(device) << device.error().message();
      devices_.push_back(*std::move(device));
    }
  }
  Device& first() { return *devices_.front(); }

  void compare(OpCase& test_case) {
    ASSERT_TRUE(check_call(test_case.call)) << check_call(test_case.call).error().message();
    const auto expected = expectation_of(test_case.call).value();
    for (size_t i = 0; i < devices_.size(); ++i) {
      SCOPED_TRACE(fmt::format("{} threads", i + 1));
      poison_output(test_case);
      const auto done = devices_[i]->run(test_case.call);
      ASSERT_TRUE(done) << done.error().message();
      devices_[i]->synchronize();
      const auto check = check_output(test_case.call, expected);
      EXPECT_TRUE(check.passed) << check.problem;
      EXPECT_TRUE(output_end_is_intact(test_case)) << "wrote behind the end of the output";
      ++compared_;
    }
  }

  std::vector<std::unique_ptr<Device>> devices_;
  size_t compared_ = 0;
};

TEST_P(AllOps, agrees_with_the_reference_within_the_derived_bound) {
  for (const Op op : all_ops()) {
    for (const DType dtype : op_dtypes()) {
      if (!first().why_unsupported(op, dtype).empty()) continue;
      for (auto& test_case : cases_of(op, dtype)) {
        SCOPED_TRACE(fmt::format("{} {} {}", name_of(op), name_of(dtype), test_case.what));
        compare(test_case);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(compared_, 0u) << "the device supports nothing";
  EXPECT_FALSE(first().take_kernel_counts().empty());
  std::cout << fmt::format("{}: {}: {} answers compared\n", GetParam().device,
                           first().description(), compared_);
}

TEST_P(AllOps, an_unsupported_call_is_refused_with_the_announced_reason) {
  for (const Op op : all_ops()) {
    for (const DType dtype : op_dtypes()) {
      const auto reason = first().why_unsupported(op, dtype);
      auto cases = cases_of(op, dtype);
      const auto done = first().run(cases.front().call);
      EXPECT_EQ(done.has_value(), reason.empty()) << name_of(op) << " " << name_of(dtype);
      if (done) continue;
      EXPECT_EQ(done.error().message(), reason);
      EXPECT_EQ(done.error().kind(), ErrorKind::environment);
    }
    EXPECT_FALSE(first().why_unsupported(op, DType::i8).empty());
  }
}

// A machine may have no other device than the reference.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AllOps);
INSTANTIATE_TEST_SUITE_P(Devices, AllOps, testing::ValuesIn(targets()), target_name);

}  // namespace
}  // namespace trilobite
