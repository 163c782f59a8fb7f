#include "base/file.hpp"

#include <gtest/gtest.h>

#include "base/temporary_folder_for_test.hpp"

namespace trilobite {
namespace {

class File : public testing::Test {
 protected:
  TemporaryFolder temporary_;
  Path folder_ = temporary_.path();
};

TEST_F(File, what_is_written_reads_back_and_nothing_else_is_left) {
  const std::string content("a\0b\n", 4);
  ASSERT_TRUE(write_file_atomically(folder_ / "deep" / "x.bin", content));
  EXPECT_EQ(read_file(folder_ / "deep" / "x.bin").value(), content);
  ASSERT_TRUE(write_file_atomically(folder_ / "deep" / "x.bin", ""));
  EXPECT_EQ(read_file(folder_ / "deep" / "x.bin").value(), "");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "deep"), {}), 1);
}

TEST_F(File, problems_name_the_file_and_the_reason) {
  EXPECT_NE(read_file(folder_ / "none").error().message().find("none: No such file"),
            std::string::npos);
  EXPECT_NE(read_file(folder_).error().message().find("it is a folder"), std::string::npos);
  EXPECT_FALSE(write_file_atomically(folder_, "x"));
  EXPECT_FALSE(write_file_atomically("/proc/nothing/x", "x"));
  EXPECT_FALSE(check_writable("/proc/nothing/x"));
}

TEST_F(File, a_full_device_is_an_error) { EXPECT_FALSE(write_file_atomically("/dev/full", "x")); }

// Files of the kernel claim to be empty; taking that for granted made every CPU feature vanish.
TEST_F(File, files_of_the_kernel_are_read_although_they_report_no_size) {
  EXPECT_FALSE(read_file("/proc/self/status").value().empty());
}

TEST_F(File, a_file_above_the_limit_is_refused) {
  ASSERT_TRUE(write_file_atomically(folder_ / "x", "12345"));
  EXPECT_FALSE(read_file(folder_ / "x", 4));
}

TEST_F(File, checking_leaves_no_trace_and_keeps_the_old_content) {
  ASSERT_TRUE(write_file_atomically(folder_ / "x", "old"));
  ASSERT_TRUE(check_writable(folder_ / "x"));
  EXPECT_EQ(read_file(folder_ / "x").value(), "old");
  ASSERT_TRUE(check_writable(folder_ / "y"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "y"));
}

}  // namespace
}  // namespace trilobite
