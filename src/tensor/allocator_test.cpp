#include "tensor/allocator.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tensor/tensor.hpp"

namespace trilobite {
namespace {

struct Watcher final : AllocationObserver {
  std::vector<AllocationEvent> events;
  void on_event(const AllocationEvent& event) override { events.push_back(event); }
};

TEST(Allocator, a_tensor_reports_its_birth_and_its_death) {
  SystemAllocator allocator;
  Watcher watcher;
  allocator.observe(&watcher);
  {
    const auto tensor = Tensor::create({10, 10}, DType::f32, allocator).value();
  }
  ASSERT_EQ(watcher.events.size(), 2u);
  EXPECT_EQ(watcher.events[0].kind, AllocationEvent::Kind::allocate);
  EXPECT_EQ(watcher.events[0].bytes, 400u);
  EXPECT_EQ(watcher.events[1].kind, AllocationEvent::Kind::release);
  EXPECT_EQ(watcher.events[1].address, watcher.events[0].address);
}

TEST(Allocator, a_moved_tensor_is_released_once) {
  SystemAllocator allocator;
  Watcher watcher;
  allocator.observe(&watcher);
  {
    auto first = Tensor::create({4}, DType::i8, allocator).value();
    const Tensor second = std::move(first);
  }
  EXPECT_EQ(watcher.events.size(), 2u);
}

TEST(PoolAllocator, the_same_size_comes_back_from_the_pool) {
  PoolAllocator pool(1 << 20);
  const void* first_address = nullptr;
  {
    const auto tensor = Tensor::create({1000}, DType::f32, pool).value();
    first_address = tensor.view().bytes();
  }
  const auto again = Tensor::create({1001}, DType::f32, pool).value();
  EXPECT_EQ(again.view().bytes(), first_address);
  EXPECT_EQ(pool.statistics().hits, 1u);
  EXPECT_EQ(pool.statistics().misses, 1u);
}

TEST(PoolAllocator, keeps_no_more_than_its_limit_and_trims_to_nothing) {
  PoolAllocator pool(5000);
  {
    const auto big = Tensor::create({100'000}, DType::u8, pool).value();
  }
  EXPECT_EQ(pool.statistics().kept_bytes, 0u);
  {
    const auto small = Tensor::create({4000}, DType::u8, pool).value();
  }
  EXPECT_GE(pool.statistics().kept_bytes, 4000u);
  EXPECT_EQ(pool.statistics().served_bytes, 0u);
  pool.trim();
  EXPECT_EQ(pool.statistics().kept_bytes, 0u);
}

TEST(PoolAllocator, wastes_at_most_a_quarter) {
  PoolAllocator pool(size_t{1} << 30);
  for (size_t bytes = 257; bytes < 100'000; bytes += 371) {
    auto buffer = pool.allocate(bytes).value();
    EXPECT_GE(buffer.size(), bytes);
    EXPECT_LE(static_cast<double>(buffer.size()), 1.25 * static_cast<double>(bytes));
    pool.release(std::move(buffer));
  }
}

}  // namespace
}  // namespace trilobite
