#include "device/openblas/openblas_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/device_list.hpp"

namespace trilobite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CpuInfo x86_with(std::string vendor, std::vector<std::string> features) {
  CpuInfo cpu;
  cpu.architecture = "x86_64";
  cpu.vendor = std::move(vendor);
  cpu.features = std::move(features);
  return cpu;
}

TEST(OpenblasLibrary, the_core_type_follows_the_instruction_set) {
  const auto intel = x86_with("GenuineIntel", {});
  EXPECT_THAT(openblas_cores(IsaLevel::sse4, intel), ElementsAre("Nehalem"));
  EXPECT_THAT(openblas_cores(IsaLevel::avx2, intel), ElementsAre("Haswell"));
  EXPECT_THAT(openblas_cores(IsaLevel::avx2, x86_with("AuthenticAMD", {})),
              ElementsAre("Zen", "Haswell"));
  EXPECT_THAT(openblas_cores(IsaLevel::avx3, intel), ElementsAre("SkylakeX"));
  EXPECT_THAT(openblas_cores(IsaLevel::avx3_dl, x86_with("GenuineIntel", {"avx512_bf16"})),
              ElementsAre("Cooperlake", "SkylakeX"));
  EXPECT_TRUE(openblas_cores(IsaLevel::baseline, intel).empty());
  CpuInfo arm;
  arm.architecture = "aarch64";
  EXPECT_TRUE(openblas_cores(IsaLevel::baseline, arm).empty());
}

float plain_sum(int n, const float* x, int) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  return sum;
}

/// What the SkylakeX kernel of OpenBLAS 0.3.21 computes; found on an emulated Tiger Lake.
float sum_of_the_wrong_quarters(int n, const float* x, int) {
  const int whole = n / 16 * 16;
  float sum = 0;
  for (int i = 0; i < whole; ++i) {
    const int quarter = i % 16 / 4;
    sum += (quarter == 0 ? 1.0f : quarter == 2 ? 3.0f : 0.0f) * x[i];
  }
  return sum + plain_sum(n - whole, x + whole, 1);
}

TEST(OpenblasLibrary, a_sum_of_the_wrong_elements_is_noticed) {
  EXPECT_TRUE(sums_correctly(plain_sum));
  EXPECT_FALSE(sums_correctly(sum_of_the_wrong_quarters));
}

class OpenblasOnThisMachine : public testing::Test {
 protected:
  void SetUp() override {
    if (auto reason = why_no_openblas(); !reason.empty()) GTEST_SKIP() << reason;
    if (levels_of(read_cpu_info()).back() < IsaLevel::avx2) GTEST_SKIP() << "needs AVX2";
    if (std::getenv("OPENBLAS_CORETYPE") != nullptr) GTEST_SKIP() << "the core type is given";
  }
};

TEST_F(OpenblasOnThisMachine, the_kernels_are_the_ones_that_were_asked_for) {
  EXPECT_THAT(open_device("openblas", {.threads = 1, .isa = "sse4"}).value()->description(),
              HasSubstr("Nehalem kernels, 1 thread"));
  EXPECT_THAT(
      open_device("openblas", {.threads = 2, .isa = "avx2"}).value()->description(),
      testing::AnyOf(HasSubstr("Zen kernels, 2 threads"), HasSubstr("Haswell kernels, 2 threads")));
  EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE"), nullptr);
}

TEST_F(OpenblasOnThisMachine, more_threads_than_it_was_built_for_are_refused) {
  const auto device = open_device("openblas", {.threads = 4000});
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message(), HasSubstr("built for at most"));
}

TEST_F(OpenblasOnThisMachine, the_kernels_cannot_change_while_a_device_is_open) {
  const auto first = open_device("openblas", {.isa = "avx2"});
  ASSERT_TRUE(first);
  const auto second = open_device("openblas", {.isa = "sse4"});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind(), ErrorKind::environment);
  EXPECT_THAT(second.error().message(), HasSubstr("fixed while it is loaded"));
  EXPECT_TRUE(open_device("openblas", {.isa = "avx2"}));
}

}  // namespace
}  // namespace trilobite
