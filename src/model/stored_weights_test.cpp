#include "model/stored_weights.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "base/cpu_info.hpp"
#include "base/rng.hpp"
#include "kernels/block_repack.hpp"
#include "kernels/group_repack.hpp"
#include "kernels/packed_bytes_for_test.hpp"
#include "kernels/ternary_repack.hpp"
#include "model/linear.hpp"

namespace trilobite::model {
namespace {

using kernels::StoredFormat;
using kernels::fixtures::PackedBytes;
using kernels::fixtures::random_blocks;

struct Case {
  StoredFormat format;
  const char* name;
};
constexpr Case kCases[] = {{StoredFormat::tq2_0, "tq2_0"},
                           {StoredFormat::q4_0, "q4_0"},
                           {StoredFormat::q8_0, "q8_0"},
                           {StoredFormat::q6_k, "q6_k"}};

/// The same weights as a copy in tiles.
Weights in_tiles(StoredFormat format, const PackedBytes& packed, ThreadPool& pool) {
  switch (format) {
    case StoredFormat::q4_0:
      return kernels::repack_groups(kernels::GroupBlocks::q4_0, packed.view(), pool).value();
    case StoredFormat::q8_0:
      return kernels::repack_groups(kernels::GroupBlocks::q8_0, packed.view(), pool).value();
    case StoredFormat::q6_k:
      return kernels::repack_blocks(quant::TiledBlocks::q6_k, packed.view(), pool).value();
    default: break;
  }
  return *kernels::repack_ternary_blocks(kernels::TernaryBlocks::tq2_0, packed.view(),
                                         quant::TernaryForm::two_bit, pool)
              .value();
}

std::vector<uint32_t> product(const Linear& linear, size_t tokens, ThreadPool& pool) {
  std::vector<float> x(tokens * linear.columns());
  for (size_t i = 0; i < x.size(); ++i) x[i] = normal_at(5, 0, i);
  auto input = ProjectionInput::create(tokens, linear.columns()).value();
  input.set(x.data(), tokens, linear.columns());
  const CpuInfo cpu = read_cpu_info();
  kernels::Gemm gemm(pool, cpu);
  std::vector<float> out(tokens * linear.rows());
  EXPECT_TRUE(linear.multiply(input, {pool, gemm}, out.data()));
  std::vector<uint32_t> bits;
  for (const float value : out) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

// The same whether rows are read as they are (up to four tokens) or turned into tiles on the way.
TEST(StoredWeights, give_the_bits_of_a_copy_in_tiles) {
  for (const unsigned threads : {1u, 3u}) {
    ThreadPool pool(threads);
    for (const auto& [format, name] : kCases) {
      for (const size_t rows : {1u, 63u, 64u, 65u, 200u}) {
        const auto packed = random_blocks(quant::block_format(name), rows, 512, {0.02f});
        auto stored = StoredWeights::look_at(format, packed.view(), pool).value();
        ASSERT_TRUE(stored) << name;
        const Linear in_place(*std::move(stored));
        const Linear copied(in_tiles(format, packed, pool));
        for (const size_t tokens : {1u, 4u, 5u, 33u}) {
          EXPECT_EQ(product(in_place, tokens, pool), product(copied, tokens, pool))
              << name << ", " << rows << " rows, " << tokens << " tokens";
        }
      }
    }
  }
}

TEST(StoredWeights, with_a_scale_for_each_row_give_the_bits_of_tiles) {
  ThreadPool pool(2);
  const auto packed = random_blocks(quant::block_format("tq2_0"), 70, 256, {0.5f, 0.25f, 3.0f});
  const Linear in_place(*StoredWeights::look_at(StoredFormat::tq2_0, packed.view(), pool).value());
  const Linear copied(in_tiles(StoredFormat::tq2_0, packed, pool));
  for (const size_t tokens : {2u, 9u}) {
    EXPECT_EQ(product(in_place, tokens, pool), product(copied, tokens, pool)) << tokens;
  }
}

TEST(StoredWeights, are_looked_at_before_they_are_used) {
  ThreadPool pool(2);
  for (const auto& [format, name] : kCases) {
    const auto& block = quant::block_format(name);
    auto packed = random_blocks(block, 40, 512, {0.02f});
    quant::store_bytes(packed.data() + packed.size() - block.bytes + block.scale_offsets[0],
                       uint16_t{0x7C00});
    const auto infinite = StoredWeights::look_at(format, packed.view(), pool);
    ASSERT_FALSE(infinite) << name;
    EXPECT_NE(infinite.error().message().find("scale"), std::string::npos)
        << infinite.error().message();
    auto view = packed.view();
    view.bytes = view.bytes.first(view.bytes.size() - 1);
    EXPECT_FALSE(StoredWeights::look_at(format, view, pool)) << name;
  }
  auto packed = random_blocks(quant::block_format("tq2_0"), 40, 512, {0.02f});
  packed.data()[39 * 132 + 70] = 0xFF;
  EXPECT_FALSE(StoredWeights::look_at(StoredFormat::tq2_0, packed.view(), pool));
}

TEST(StoredWeights, refuse_scales_that_differ_within_a_row) {
  ThreadPool pool(2);
  const auto packed = random_blocks(quant::block_format("tq2_0"), 40, 512, {0.5f, 0.25f});
  const auto stored = StoredWeights::look_at(StoredFormat::tq2_0, packed.view(), pool);
  ASSERT_TRUE(stored) << stored.error().message();
  EXPECT_FALSE(*stored);
}

}  // namespace
}  // namespace trilobite::model
