#include "measure/limits.hpp"

#include <gtest/gtest.h>

#include "measure/limit_loops.hpp"

namespace trilobite {
namespace {

MachineLimits example_limits() {
  return {.fingerprint = "f",
          .measured_at = "now",
          .isa = "avx2",
          .by_threads = {{.threads = 2,
                          .bandwidth = {{.level = "L1",
                                         .working_set_bytes = 1000,
                                         .read = 100e9,
                                         .write = 50e9,
                                         .copy = 60e9,
                                         .triad = 80e9},
                                        {.level = "memory",
                                         .working_set_bytes = 1e6,
                                         .read = 10e9,
                                         .write = 5e9,
                                         .copy = 6e9,
                                         .triad = 8e9}},
                          .operations = {{"f32", 100e9}}}}};
}

TEST(LimitShare, reading_from_memory_is_held_against_the_memory_read_rate) {
  const auto share = share_of_limit(example_limits(), {.bytes_read = 1e6}, 2, 200'000).value();
  EXPECT_EQ(share.limit, "memory read, 2 threads");
  EXPECT_DOUBLE_EQ(share.share, 0.5);  // 1e6 B at 10e9 B/s take 100 us
}

TEST(LimitShare, the_mix_of_reads_and_writes_chooses_the_loop) {
  const auto limit = [](double read, double written) {
    return share_of_limit(example_limits(), {.bytes_read = read, .bytes_written = written}, 2, 1e6)
        ->limit;
  };
  EXPECT_EQ(limit(2e6, 1e6), "memory triad, 2 threads");
  EXPECT_EQ(limit(1e6, 1e6), "memory copy, 2 threads");
  EXPECT_EQ(limit(0, 1e6), "memory write, 2 threads");
  EXPECT_EQ(limit(500, 0), "L1 read, 2 threads");
}

TEST(LimitShare, a_working_set_beyond_the_iteration_decides_the_level) {
  const WorkDone work{.bytes_read = 500, .working_set_bytes = 1e9};
  EXPECT_EQ(share_of_limit(example_limits(), work, 2, 1e6)->limit, "memory read, 2 threads");
}

TEST(LimitShare, the_limit_that_allows_less_is_the_one_that_binds) {
  const auto share =
      share_of_limit(example_limits(), {.bytes_read = 1000, .flops = 1e9}, 2, 20e6).value();
  EXPECT_EQ(share.limit, "f32 arithmetic, 2 threads");
  EXPECT_DOUBLE_EQ(share.share, 0.5);
}

TEST(LimitShare, unknown_threads_or_no_work_have_no_limit) {
  EXPECT_FALSE(share_of_limit(example_limits(), {.bytes_read = 1}, 3, 1));
  EXPECT_FALSE(share_of_limit(example_limits(), {}, 2, 1));
}

TEST(LimitLoops, each_does_the_amount_it_says) {
  const auto loops = limit_loops();
  alignas(128) static std::byte a[4096];
  alignas(128) static std::byte b[4096];
  alignas(128) static std::byte c[4096];
  for (const bool streaming : {false, true}) {
    loops.write(a, sizeof(a), streaming);
    loops.write(b, sizeof(b), streaming);
    loops.copy(a, c, sizeof(c), streaming);
    const auto at = [](const std::byte* data, size_t i) {
      return reinterpret_cast<const float*>(data)[i];
    };
    EXPECT_EQ(at(c, 1023), 1.0f);
    loops.triad(a, b, c, sizeof(c), streaming);
    for (size_t i = 0; i < 1024; ++i) EXPECT_EQ(at(c, i), 4.0f);
  }
  for (const auto read : loops.read) {
    const uint64_t whole = read(a, sizeof(a));
    for (size_t i = 0; i < sizeof(a); i += 56) {
      a[i] ^= std::byte{1};
      EXPECT_NE(read(a, sizeof(a)), whole) << "byte " << i;
      a[i] ^= std::byte{1};
    }
  }
  EXPECT_GT(loops.f32_operations(10), 0);
  EXPECT_GT(loops.bf16_operations(10), 0);
  EXPECT_GT(loops.i8_operations(10), 0);
}

TEST(LimitsCache, reads_back_what_was_saved_and_ignores_the_rest) {
  const Path path = Path(testing::TempDir()) / "trilobite_limits_test.json";
  ASSERT_TRUE(save_limits(path, example_limits()));
  const auto read = load_limits(path, "f");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->by_threads[0].bandwidth[1].triad, 8e9);
  EXPECT_FALSE(load_limits(path, "another machine"));
  ASSERT_TRUE(write_file_atomically(path, "{\"fingerprint\": 7"));
  EXPECT_FALSE(load_limits(path, "f"));
  std::filesystem::remove(path);
  EXPECT_FALSE(load_limits(path, "f"));
}

}  // namespace
}  // namespace trilobite
