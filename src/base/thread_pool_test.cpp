#include "base/thread_pool.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace trilobite {
namespace {

TEST(ThreadPool, every_index_is_called_once_on_every_run) {
  for (const unsigned threads : {1u, 2u, 3u, 7u}) {
    ThreadPool pool(threads);
    ASSERT_EQ(pool.threads(), threads);
    std::vector<int> calls(threads);
    for (int round = 1; round <= 500; ++round) {
      pool.run([&](unsigned index) { ++calls[index]; });
      for (const int count : calls) ASSERT_EQ(count, round);
    }
  }
}

TEST(ThreadPool, nobody_waits_for_a_worker_that_has_taken_nothing) {
  // Far more threads than CPUs: most come late to a job, and some only during a later one.
  ThreadPool pool(64);
  std::vector<std::atomic<int>> calls(64);
  for (int round = 1; round <= 300; ++round) {
    pool.run([&](unsigned index) { calls[index].fetch_add(1, std::memory_order_relaxed); });
    for (const auto& count : calls) ASSERT_EQ(count.load(), round);
  }
}

TEST(ThreadPool, work_after_the_workers_went_to_sleep_is_done) {
  ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> calls = 0;
    pool.run([&](unsigned) { ++calls; });
    EXPECT_EQ(calls, 2);
  }
}

TEST(ThreadPool, a_range_is_covered_exactly_once_in_grains) {
  for (const unsigned threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    for (const size_t count : {0u, 1u, 15u, 16u, 17u, 1000u}) {
      std::vector<int> seen(count);
      pool.for_range(count, 16, [&](size_t begin, size_t end) {
        EXPECT_EQ(begin % 16, 0u);
        for (size_t i = begin; i < end; ++i) ++seen[i];
      });
      for (const int times : seen) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ShrinkingPieces, cover_the_range_and_never_grow) {
  for (const unsigned threads : {1u, 2u, 3u, 64u}) {
    for (const size_t count : {1u, 2u, 3u, 7u, 64u, 1000u, 8016u}) {
      const ShrinkingPieces pieces(count, threads);
      size_t end = 0, size = count;
      for (uint32_t i = 0; i < pieces.count(); ++i) {
        const auto piece = pieces.at(i);
        ASSERT_EQ(piece.begin, end);
        ASSERT_GT(piece.end, piece.begin);
        ASSERT_LE(piece.end - piece.begin, size) << i << " of " << count << ", " << threads;
        size = piece.end - piece.begin;
        end = piece.end;
      }
      ASSERT_EQ(end, count);
      EXPECT_EQ(size, 1u);
    }
  }
}

TEST(ThreadPool, a_pool_that_never_worked_can_be_destroyed) {
  for (int round = 0; round < 100; ++round) ThreadPool pool(3);
}

}  // namespace
}  // namespace trilobite
