#include "kernels/block_repack.hpp"

#include <bit>

#include "kernels/kernel_test_inputs.hpp"
#include "kernels/packed_bytes_for_test.hpp"

namespace trilobite::kernels {
namespace {

using fixtures::random_blocks;
using quant::TiledBlocks;

class BlockRepackOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(BlockRepackOnEveryIsa);

constexpr TiledBlocks kFormats[] = {TiledBlocks::q4_1, TiledBlocks::q4_k, TiledBlocks::q6_k};

TEST_P(BlockRepackOnEveryIsa, keeps_the_very_values_of_the_blocks) {
  for (const auto format : kFormats) {
    const auto& block = quant::block_format(name_of(format));
    for (const size_t rows : {1u, 15u, 16u, 17u, 64u, 70u, 131u}) {
      for (const size_t count : {1u, 3u}) {
        const size_t cols = count * block.columns;
        const auto packed = random_blocks(block, rows, cols, fixtures::kAnyScales);
        const auto expected = fixtures::decoded(block, packed.view());
        ThreadPool pool(static_cast<unsigned>(1 + rows % 3));
        const auto tiles = repack_blocks(format, packed.view(), pool);
        ASSERT_TRUE(tiles) << tiles.error().message();
        for (size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(std::bit_cast<uint32_t>(tiles->weight_at(i / cols, i % cols)),
                    std::bit_cast<uint32_t>(expected[i]))
              << block.name << " " << rows << "x" << cols << " at " << i;
        }
      }
    }
  }
}

// Kernels read the rows up to a whole tile: their weights must be 0.
TEST_P(BlockRepackOnEveryIsa, pads_with_weights_of_0) {
  ThreadPool pool(1);
  for (const auto format : kFormats) {
    const auto& block = quant::block_format(name_of(format));
    const auto packed = random_blocks(block, 65, block.columns, {1.0f});
    const auto tiles = repack_blocks(format, packed.view(), pool).value();
    for (size_t row = 65; row < 80; ++row) {
      for (size_t c = 0; c < tiles.columns(); ++c) ASSERT_EQ(tiles.weight_at(row, c), 0.0f);
    }
  }
}

TEST_P(BlockRepackOnEveryIsa, says_what_is_wrong_with_the_blocks) {
  ThreadPool pool(2);
  for (const auto format : kFormats) {
    const auto& block = quant::block_format(name_of(format));
    const auto message = [&](const quant::QuantizedView& view) {
      return repack_blocks(format, view, pool).error().message();
    };
    auto packed = random_blocks(block, 130, 2 * block.columns, fixtures::kAnyScales);
    auto view = packed.view();
    view.bytes = view.bytes.subspan(1);
    EXPECT_NE(message(view).find("bytes, not"), std::string::npos);
    view.cols -= 1;
    EXPECT_NE(message(view).find("are whole blocks of"), std::string::npos);
    view.rows = 0;
    EXPECT_NE(message(view).find("no elements"), std::string::npos);
    for (const size_t offset : block.scale_offsets) {
      packed = random_blocks(block, 130, 2 * block.columns, fixtures::kAnyScales);
      quant::store_bytes(packed.data() + 259 * block.bytes + offset, uint16_t{0xFC00});
      EXPECT_NE(message(packed.view()).find("row 129, column"), std::string::npos);
      EXPECT_NE(message(packed.view()).find("not a finite number"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace trilobite::kernels
