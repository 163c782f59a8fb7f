#include "base/aligned_buffer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace trilobite {
namespace {

TEST(AlignedBuffer, every_size_starts_on_the_promised_boundary) {
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{4096}, size_t{5} << 20}) {
    auto buffer = AlignedBuffer::allocate(bytes).value();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % AlignedBuffer::kAlignment, 0u) << bytes;
    EXPECT_EQ(buffer.size(), bytes);
    buffer.bytes().front() = std::byte{1};
    buffer.bytes().back() = std::byte{2};
  }
}

TEST(AlignedBuffer, zero_bytes_is_an_empty_buffer) {
  auto buffer = AlignedBuffer::allocate(0).value();
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_EQ(buffer.data(), nullptr);
}

TEST(AlignedBuffer, more_than_the_machine_has_is_an_error_with_both_figures) {
  const auto buffer = AlignedBuffer::allocate(std::numeric_limits<size_t>::max() / 2);
  ASSERT_FALSE(buffer);
  EXPECT_NE(buffer.error().message().find("this machine has"), std::string::npos);
  EXPECT_EQ(buffer.error().kind(), ErrorKind::environment);
}

TEST(AlignedBuffer, moving_hands_the_memory_over) {
  auto first = AlignedBuffer::allocate(64).value();
  const auto* data = first.data();
  const AlignedBuffer second = std::move(first);
  EXPECT_EQ(second.data(), data);
}

}  // namespace
}  // namespace trilobite
