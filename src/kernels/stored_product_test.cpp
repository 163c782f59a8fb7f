#include "kernels/stored_product.hpp"

#include <bit>

#include "kernels/absmax.hpp"
#include "kernels/block_product.hpp"
#include "kernels/block_repack.hpp"
#include "kernels/group_absmax.hpp"
#include "kernels/group_repack.hpp"
#include "kernels/kernel_test_inputs.hpp"
#include "kernels/packed_bytes_for_test.hpp"
#include "kernels/ternary_repack.hpp"
#include "quant/i2s.hpp"

namespace trilobite::kernels {
namespace {

using fixtures::PackedBytes;
using quant::kGroupColumns;

class StoredProductOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(StoredProductOnEveryIsa);

struct Size {
  size_t rows, columns, tokens;
};

/// Activations in both forms. Every third token is at the edge: all of one magnitude.
struct Activations {
  explicit Activations(Size size)
      : tokens(size.tokens),
        columns(size.columns),
        stride(activation_stride(columns + kGroupColumns)),
        groups(columns / kGroupColumns) {
    for (size_t i = 0; i < tokens * columns; ++i) {
      const bool at_edge = i / columns % 3 == 2;
      values.push_back(at_edge ? (philox(3, 0, i)[0] % 5 != 0 ? 1.0f : -1.0f) : normal_at(3, 0, i));
    }
    for (size_t t = 0; t < tokens; ++t) quantize(t);
  }
  void quantize(size_t t) {
    const auto row = quantize_absmax({.x = values.data() + t * columns,
                                      .columns = columns,
                                      .padded_columns = stride,
                                      .epsilon = 1e-5f,
                                      .codes = row_codes.data() + t * stride});
    row_scales[t] = row.scale;
    row_sums[t] = row.sum;
    quantize_absmax_groups({.x = values.data() + t * columns,
                            .columns = columns,
                            .codes = group_codes.data() + t * stride,
                            .scales = group_scales.data() + t * groups,
                            .sums = group_sums.data() + t * groups,
                            .half_sums = half_sums.data() + t * groups});
  }
  Int8Rows by_rows() const {
    return {row_codes.data(), stride, tokens, row_scales.data(), row_sums.data()};
  }
  Int8Groups by_groups() const {
    return {group_codes.data(), stride,          tokens, group_scales.data(),
            group_sums.data(),  half_sums.data()};
  }

  size_t tokens, columns, stride, groups;
  std::vector<float> values;
  std::vector<int8_t> row_codes = std::vector<int8_t>(tokens * stride);
  std::vector<int8_t> group_codes = std::vector<int8_t>(tokens * stride);
  std::vector<float> row_scales = std::vector<float>(tokens);
  std::vector<int32_t> row_sums = std::vector<int32_t>(tokens);
  std::vector<float> group_scales = std::vector<float>(tokens * groups);
  std::vector<int32_t> group_sums = std::vector<int32_t>(tokens * groups);
  std::vector<int32_t> half_sums = std::vector<int32_t>(tokens * groups);
};

std::vector<Size> sizes_of(size_t block) {
  std::vector<Size> sizes;
  for (const size_t rows : {1u, 3u, 4u, 5u, 8u, 9u, 15u, 16u, 17u, 66u}) {
    for (const size_t blocks : {1u, 2u, 9u}) {
      for (const size_t tokens : {1u, 3u}) sizes.push_back({rows, blocks * block, tokens});
    }
  }
  sizes.push_back({17, 27 * block, 4});
  return sizes;
}

void expect_same_bits(const std::vector<float>& got, const std::vector<float>& expected) {
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(expected[i])) << i;
  }
}

/// Both products, the stored one in two pieces as two threads would.
void compare_groups(StoredFormat format, const PackedBytes& packed, Size size, auto&& with_tiles) {
  const Activations x(size);
  std::vector<float> expected(size.tokens * size.rows), got(expected.size());
  with_tiles(x.by_groups(), expected.data());
  const StoredGroupCall call{
      .weights = {format, packed.view().bytes.data(), size.rows, size.columns},
      .x = x.by_groups(),
      .out = got.data(),
      .out_stride = size.rows};
  stored_group_product(call, 0, size.rows / 2);
  stored_group_product(call, size.rows / 2, size.rows);
  SCOPED_TRACE(testing::Message() << size.rows << "x" << size.columns << ", " << size.tokens);
  expect_same_bits(got, expected);
}

void compare_ternary(StoredFormat format, const PackedBytes& packed, Size size,
                     const TernaryWeights& tiles) {
  const Activations x(size);
  std::vector<float> expected(size.tokens * size.rows), got(expected.size());
  const float* row_scales = tiles.scales.size() == 1 ? nullptr : tiles.scales.data();
  ternary_product({.weights = tiles.tiles,
                   .x = x.by_rows(),
                   .row_scales = row_scales,
                   .scale = tiles.scales[0],
                   .out = expected.data(),
                   .out_stride = size.rows},
                  0, tiles.tiles.panels());
  const StoredTernaryCall call{
      .weights = {format, packed.view().bytes.data(), size.rows, size.columns},
      .x = x.by_rows(),
      .row_scales = row_scales,
      .scale = tiles.scales[0],
      .out = got.data(),
      .out_stride = size.rows};
  stored_ternary_product(call, 0, size.rows / 2);
  stored_ternary_product(call, size.rows / 2, size.rows);
  SCOPED_TRACE(testing::Message() << size.rows << "x" << size.columns << ", " << size.tokens);
  expect_same_bits(got, expected);
}

TEST_P(StoredProductOnEveryIsa, gives_the_bits_of_group_tiles) {
  ThreadPool pool(1);
  for (const auto& [format, blocks, name] :
       {std::tuple{StoredFormat::q4_0, GroupBlocks::q4_0, "q4_0"},
        std::tuple{StoredFormat::q8_0, GroupBlocks::q8_0, "q8_0"}}) {
    for (const Size size : sizes_of(32)) {
      const auto packed = fixtures::random_blocks(quant::block_format(name), size.rows,
                                                  size.columns, {0.01f, -0.37f, 0.002f, 1.0f});
      const auto tiles = repack_groups(blocks, packed.view(), pool).value();
      compare_groups(format, packed, size, [&](Int8Groups x, float* out) {
        group_product({.weights = tiles, .x = x, .out = out, .out_stride = size.rows}, 0,
                      tiles.panels());
      });
    }
  }
}

TEST_P(StoredProductOnEveryIsa, gives_the_bits_of_block_tiles) {
  ThreadPool pool(1);
  for (const Size size : sizes_of(256)) {
    const auto packed = fixtures::random_blocks(quant::block_format("q6_k"), size.rows,
                                                size.columns, {0.01f, -0.37f, 0.002f});
    const auto tiles = repack_blocks(quant::TiledBlocks::q6_k, packed.view(), pool).value();
    compare_groups(StoredFormat::q6_k, packed, size, [&](Int8Groups x, float* out) {
      block_product({.weights = tiles, .x = x, .out = out, .out_stride = size.rows}, 0,
                    tiles.panels());
    });
  }
}

TEST_P(StoredProductOnEveryIsa, gives_the_bits_of_ternary_tiles) {
  ThreadPool pool(1);
  const auto form = quant::TernaryForm::two_bit;
  for (const Size size : sizes_of(256)) {
    const auto packed =
        fixtures::random_blocks(quant::block_format("tq2_0"), size.rows, size.columns, {0.25f});
    const auto tiles = repack_ternary_blocks(TernaryBlocks::tq2_0, packed.view(), form, pool);
    ASSERT_TRUE(tiles && *tiles);
    compare_ternary(StoredFormat::tq2_0, packed, size, **tiles);
  }
}

TEST_P(StoredProductOnEveryIsa, gives_the_bits_of_ternary_tiles_with_a_scale_a_row) {
  ThreadPool pool(1);
  const Size size{9, 512, 2};
  const auto packed = fixtures::random_blocks(quant::block_format("tq2_0"), size.rows, size.columns,
                                              {0.25f, 0.25f, 3.0f, 3.0f, 0.5f, 0.5f});
  const auto tiles =
      repack_ternary_blocks(TernaryBlocks::tq2_0, packed.view(), quant::TernaryForm::two_bit, pool);
  ASSERT_TRUE(tiles && *tiles);
  ASSERT_EQ((*tiles)->scales.size(), size.rows);
  compare_ternary(StoredFormat::tq2_0, packed, size, **tiles);
}

TEST_P(StoredProductOnEveryIsa, gives_the_bits_of_ternary_tiles_from_i2s) {
  ThreadPool pool(1);
  for (const Size size : sizes_of(128)) {
    quant::TernaryMatrix ternary{.rows = size.rows, .cols = size.columns};
    for (size_t i = 0; i < size.rows * size.columns; ++i) {
      ternary.codes.push_back(static_cast<int8_t>(static_cast<int>(philox(8, 0, i)[0] % 3) - 1));
    }
    ternary.scales = {0.7f};
    const auto bytes = pack_i2s(ternary, quant::I2sLayout::x86_block128);
    PackedBytes packed(size.rows, size.columns, bytes.size());
    std::ranges::copy(bytes, packed.data());
    const auto tiles = repack_i2s(quant::I2sLayout::x86_block128, packed.view(),
                                  quant::TernaryForm::two_bit, pool);
    ASSERT_TRUE(tiles) << tiles.error().message();
    compare_ternary(StoredFormat::i2s_block128, packed, size, *tiles);
  }
}

}  // namespace
}  // namespace trilobite::kernels
