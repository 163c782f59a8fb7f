#include "base/cpu_info.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"

namespace trilobite {
namespace {

class CpuInfoTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Path root_ = folder_.path();
  void put(const char* path, std::string_view content) {
    ASSERT_TRUE(write_file_atomically(root_ / path, content));
  }
};

TEST_F(CpuInfoTest, two_sockets_with_two_threads_per_core_are_counted) {
  put("proc/cpuinfo",
      "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some CPU\nphysical id\t: 0\ncore "
      "id\t: 0\nflags\t: fma "
      "avx2\n\n"
      "processor\t: 1\nphysical id\t: 0\ncore id\t: 0\n\n"
      "processor\t: 2\nphysical id\t: 1\ncore id\t: 0\n\n"
      "processor\t: 3\nphysical id\t: 1\ncore id\t: 0\n");
  put("sys/devices/system/cpu/online", "0-3\n");
  put("sys/devices/system/node/online", "0-1\n");
  put("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
  put("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
  put("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
  put("sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0-1\n");
  put("sys/devices/system/cpu/cpu0/cache/index1/level", "3\n");
  put("sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n");
  put("sys/devices/system/cpu/cpu0/cache/index1/size", "32M\n");
  const auto info = read_cpu_info(root_);
  EXPECT_EQ(info.model, "Some CPU");
  EXPECT_EQ(info.logical_cpus, 4u);
  EXPECT_EQ(info.physical_cores, 2u);
  EXPECT_EQ(info.sockets, 2u);
  EXPECT_EQ(info.numa_nodes, 2u);
  EXPECT_TRUE(info.has("avx2"));
  EXPECT_FALSE(info.has("avx"));
  EXPECT_EQ(info.cache_bytes(1), 48u * 1024);
  EXPECT_EQ(info.caches[0].shared_by, 2u);
  EXPECT_EQ(info.last_level_cache_bytes(), 32u << 20);
}

TEST_F(CpuInfoTest, a_machine_that_says_nothing_is_one_unknown_cpu) {
  const auto info = read_cpu_info(root_ / "nothing");
  EXPECT_EQ(info.model, "unknown");
  EXPECT_EQ(info.logical_cpus, 1u);
  EXPECT_EQ(info.physical_cores, 1u);
  EXPECT_EQ(info.last_level_cache_bytes(), 0u);
}

TEST(CpuInfo, this_machine_has_at_least_one_cpu_and_an_architecture) {
  const auto info = read_cpu_info();
  EXPECT_GE(info.logical_cpus, 1u);
  EXPECT_FALSE(info.architecture.empty());
}

}  // namespace
}  // namespace trilobite
