#include "device/isa_level.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace trilobite {
namespace {

CpuInfo cpu_with(std::vector<std::string> features) {
  std::ranges::sort(features);
  CpuInfo cpu;
  cpu.features = std::move(features);
  return cpu;
}

const std::vector<std::string> kZen3{"avx2", "f16c", "fma", "sse4_1", "sse4_2", "ssse3"};

TEST(IsaLevel, the_best_level_is_chosen_when_none_is_named) {
  EXPECT_EQ(choose_level("", cpu_with({})).value(), IsaLevel::baseline);
  EXPECT_EQ(choose_level("", cpu_with(kZen3)).value(), IsaLevel::avx2);
  auto features = kZen3;
  for (const char* more : {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}) {
    features.emplace_back(more);
  }
  EXPECT_EQ(choose_level("", cpu_with(features)).value(), IsaLevel::avx3);
  features.emplace_back("avx512_vnni");
  features.emplace_back("avx512vbmi");
  EXPECT_EQ(choose_level("", cpu_with(features)).value(), IsaLevel::avx3_dl);
}

TEST(IsaLevel, a_level_with_a_hole_below_it_does_not_count) {
  EXPECT_EQ(choose_level("", cpu_with({"avx2", "fma", "f16c"})).value(), IsaLevel::baseline);
}

TEST(IsaLevel, features_are_found_as_the_kernel_spells_them) {
  EXPECT_EQ(product_features(cpu_with({"sse4_1"})), "no SIMD extras");
  EXPECT_EQ(product_features(cpu_with(kZen3)), "fma f16c");
  EXPECT_EQ(product_features(cpu_with({"avx2", "avx_vnni", "f16c", "fma"})), "fma f16c avx_vnni");
  EXPECT_EQ(product_features(
                cpu_with({"avx512_vbmi2", "avx512_vnni", "avx512f", "avx512vbmi", "f16c", "fma"})),
            "fma f16c avx512_vnni avx512vbmi");
}

TEST(IsaLevel, unknown_and_missing_levels_are_told_apart) {
  const auto unknown = choose_level("mmx", cpu_with(kZen3));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind(), ErrorKind::input);
  const auto missing = choose_level("avx3", cpu_with(kZen3));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::environment);
  EXPECT_EQ(missing.error().message(),
            "instruction set 'avx3' is not available on this machine; available: baseline, sse4, "
            "avx2");
}

}  // namespace
}  // namespace trilobite
