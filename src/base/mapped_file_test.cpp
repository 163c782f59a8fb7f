#include "base/mapped_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace trilobite {
namespace {

TEST(MappedFile, shows_the_bytes_of_the_file_also_after_a_move) {
  const Path path = Path(testing::TempDir()) / "trilobite_mapped_file_test";
  ASSERT_TRUE(write_file_atomically(path, "abc"));
  auto file = MappedFile::open(path).value();
  const MappedFile moved = std::move(file);
  ASSERT_EQ(moved.bytes().size(), 3u);
  EXPECT_EQ(moved.bytes()[1], std::byte{'b'});
  std::filesystem::remove(path);
}

TEST(MappedFile, released_memory_reads_as_before) {
  const Path path = Path(testing::TempDir()) / "trilobite_mapped_release_test";
  const std::string content(20000, 'x');
  ASSERT_TRUE(write_file_atomically(path, content));
  const auto file = MappedFile::open(path).value();
  file.release(file.bytes());
  file.release(file.bytes().subspan(5, 3));
  file.release({});
  EXPECT_TRUE(std::ranges::all_of(file.bytes(), [](std::byte b) { return b == std::byte{'x'}; }));
  std::filesystem::remove(path);
}

TEST(MappedFile, an_empty_file_is_an_empty_mapping) {
  const Path path = Path(testing::TempDir()) / "trilobite_mapped_empty_test";
  ASSERT_TRUE(write_file_atomically(path, ""));
  EXPECT_TRUE(MappedFile::open(path).value().bytes().empty());
  std::filesystem::remove(path);
}

TEST(MappedFile, what_cannot_be_mapped_is_named_with_the_reason) {
  EXPECT_NE(MappedFile::open("/nowhere/x").error().message().find("/nowhere/x: No such file"),
            std::string::npos);
  EXPECT_FALSE(MappedFile::open("/tmp"));
  EXPECT_FALSE(MappedFile::open("/dev/null"));
}

}  // namespace
}  // namespace trilobite
