#include "model/kv_cache.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/float16.hpp"

namespace trilobite::model {
namespace {

using kernels::KvType;

constexpr KvShape kShape{.layers = 2, .sequences = 2, .capacity = 3, .kv_heads = 2, .head_size = 4};

void expect_a_place_for_every_slot(size_t capacity) {
  KvShape shape = kShape;
  shape.capacity = capacity;
  auto cache = KvCache::create(shape, KvType::f32).value();
  float next = 0;
  const auto each = [&](auto&& visit) {
    for (size_t layer = 0; layer < 2; ++layer) {
      for (size_t sequence = 0; sequence < 2; ++sequence) {
        for (size_t position = 0; position < capacity; ++position) visit(layer, sequence, position);
      }
    }
  };
  each([&](size_t layer, size_t sequence, size_t position) {
    float k[8], v[8];
    for (size_t i = 0; i < 8; ++i) {
      k[i] = next++;
      v[i] = next++;
    }
    cache.store({layer, sequence, position}, k, v);
  });
  next = 0;
  each([&](size_t layer, size_t sequence, size_t position) {
    for (size_t i = 0; i < 8; ++i) {
      const auto head = cache.head(layer, sequence, i / 4);
      const size_t at = kernels::row_of_position(position, head.block_rows) * head.stride + i % 4;
      EXPECT_EQ(static_cast<const float*>(head.keys)[at], next++);
      EXPECT_EQ(static_cast<const float*>(head.values)[at], next++);
    }
  });
}

TEST(KvCache, every_slot_has_a_place_of_its_own) {
  for (const size_t capacity : {1U, 3U, 64U, 65U, 200U}) expect_a_place_for_every_slot(capacity);
}

TEST(KvCache, f16_and_int8_keep_values_as_near_as_they_can) {
  const float k[8] = {1.0f, -0.5f, 0.3f, 0, 100, 50, -25, 0.1f};
  auto half = KvCache::create(kShape, KvType::f16).value();
  half.store({1, 1, 2}, k, k);
  const auto head = half.head(1, 1, 0);
  EXPECT_EQ(static_cast<const Float16*>(head.keys)[2 * head.stride + 2].to_float(),
            Float16::from(0.3f).to_float());

  auto byte = KvCache::create(kShape, KvType::int8).value();
  byte.store({1, 1, 2}, k, k);
  const auto second = byte.head(1, 1, 1);
  const auto value = [&](size_t i) {
    return static_cast<float>(static_cast<const int8_t*>(second.values)[2 * second.stride + i]) *
           second.value_scales[2];
  };
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(value(i), k[4 + i], 100.0f / 127 / 2 + 1e-4f);
}

TEST(KvCache, what_is_not_finite_does_not_become_a_number) {
  auto cache = KvCache::create(kShape, KvType::int8).value();
  const float k[8] = {1, INFINITY, 0, 0, 0, 0, 0, 0};
  cache.store({0, 0, 0}, k, k);
  EXPECT_TRUE(std::isnan(cache.head(0, 0, 0).key_scales[0]));
  EXPECT_FALSE(std::isnan(cache.head(0, 0, 1).key_scales[0]));
}

TEST(KvCache, impossible_sizes_are_refused) {
  KvShape shape = kShape;
  shape.capacity = size_t{1} << 62;
  EXPECT_FALSE(KvCache::create(shape, KvType::f16));
}

TEST(KvCache, bytes_of_a_position_count_keys_values_and_scales) {
  EXPECT_EQ(KvCache::create(kShape, KvType::f16)->position_bytes(), 2U * 2 * 2 * 4 * 2);
  EXPECT_EQ(KvCache::create(kShape, KvType::int8)->position_bytes(), 2U * 2 * 2 * (4 + 4));
}

}  // namespace
}  // namespace trilobite::model
