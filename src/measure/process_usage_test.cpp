#include "measure/process_usage.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"
#include "measure/page_cache.hpp"

namespace trilobite {
namespace {

TEST(ProcessUsage, the_peak_is_read_in_bytes) {
  EXPECT_EQ(parse_status_size("VmPeak:\t 10 kB\nVmHWM:\t    2048 kB\n", "VmHWM:"), 2048U * 1024);
  EXPECT_EQ(parse_status_size("VmRSS: 5 kB\n", "VmHWM:"), std::nullopt);
  EXPECT_EQ(parse_status_size("VmHWM:\t many kB\n", "VmHWM:"), std::nullopt);
  EXPECT_EQ(parse_status_size("VmHWM:", "VmHWM:"), std::nullopt);
  EXPECT_EQ(parse_status_size("VmHWM: 5 MB\n", "VmHWM:"), std::nullopt);
}

TEST(ProcessUsage, this_process_uses_memory_and_time) {
  const double before = cpu_seconds_of_this_process();
  volatile double sum = 0;
  while (cpu_seconds_of_this_process() < before + 0.01) sum = sum + 1;
  EXPECT_GT(cpu_seconds_of_this_process(), before);
  const auto small = peak_resident_bytes();
  ASSERT_TRUE(small);
  std::vector<char> memory(64 << 20, 'x');
  EXPECT_EQ(memory[1 << 20], 'x');
  EXPECT_GE(*peak_resident_bytes(), uint64_t{64} << 20);
  ASSERT_TRUE(resident_bytes());
  EXPECT_GE(*resident_bytes(), uint64_t{64} << 20);
}

TEST(PageCache, a_file_that_was_read_is_resident_and_can_be_dropped) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(path, std::string(1 << 20, 'x')));
  EXPECT_EQ(resident_share(path).value(), 1.0);
  ASSERT_TRUE(drop_from_page_cache(path));
  EXPECT_LE(resident_share(path).value(), 1.0);  // file systems in memory keep everything
  EXPECT_FALSE(drop_from_page_cache(folder.path() / "none"));
  EXPECT_FALSE(resident_share(folder.path() / "none"));
}

}  // namespace
}  // namespace trilobite
