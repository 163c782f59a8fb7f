#include "kernels/ternary_repack.hpp"

#include "kernels/kernel_test_inputs.hpp"
#include "kernels/packed_bytes_for_test.hpp"

namespace trilobite::kernels {
namespace {

using fixtures::PackedBytes;
using quant::I2sLayout;
using quant::TernaryForm;
using quant::TernaryTiles;

class TernaryRepackOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(TernaryRepackOnEveryIsa);

constexpr TernaryForm kForms[] = {TernaryForm::two_bit, TernaryForm::five_trits_a_byte};

struct Source {
  TernaryBlocks blocks;
  const quant::BlockFormat& format;
};
const Source kSources[] = {{TernaryBlocks::tq1_0, quant::block_format("tq1_0")},
                           {TernaryBlocks::tq2_0, quant::block_format("tq2_0")}};

std::vector<int8_t> signs_of(const std::vector<float>& values) {
  std::vector<int8_t> signs;
  for (const float v : values) signs.push_back(static_cast<int8_t>((v > 0) - (v < 0)));
  return signs;
}

/// Byte for byte what TernaryTiles::pack makes of the weights, the padding too.
void expect_tiles(const TernaryTiles& tiles, const std::vector<int8_t>& weights) {
  const auto expected =
      TernaryTiles::pack(weights, tiles.rows(), tiles.columns(), tiles.form()).value();
  ASSERT_EQ(tiles.bytes(), expected.bytes());
  for (size_t i = 0; i < tiles.bytes(); ++i) {
    ASSERT_EQ(tiles.panel(0)[i], expected.panel(0)[i])
        << i << " of " << tiles.rows() << "x" << tiles.columns();
  }
}

TEST_P(TernaryRepackOnEveryIsa, makes_the_tiles_of_the_weights_in_gguf_blocks) {
  for (const auto& [blocks, format] : kSources) {
    for (const size_t rows : {1u, 15u, 16u, 17u, 64u, 71u, 131u}) {
      for (const size_t cols : {256u, 512u, 1280u}) {
        const auto packed = fixtures::random_blocks(format, rows, cols, {0.25f});
        for (const auto form : kForms) {
          ThreadPool pool(static_cast<unsigned>(1 + rows % 3));
          const auto got = repack_ternary_blocks(blocks, packed.view(), form, pool);
          ASSERT_TRUE(got && *got);
          expect_tiles((*got)->tiles, signs_of(fixtures::decoded(format, packed.view())));
          EXPECT_EQ((*got)->scales, std::vector{0.25f});
        }
      }
    }
  }
}

/// The blocks of a matrix of 3 x 512 weights, with a scale each; those named have only weights 0.
PackedBytes six_blocks(const quant::BlockFormat& format, const std::vector<float>& scales,
                       std::initializer_list<size_t> zeros = {}) {
  auto packed = fixtures::random_blocks(format, 3, 512, scales);
  for (const size_t b : zeros) {
    const std::vector<float> none(format.columns);
    format.encode(none.data(), packed.data() + b * format.bytes);
    quant::store_f16(packed.data() + b * format.bytes + format.scale_offsets[0], scales[b]);
  }
  return packed;
}

/// The scales of the tiles; none when the blocks do not agree.
std::vector<float> scales_of(const Source& source, const PackedBytes& packed) {
  ThreadPool pool(1);
  const auto got =
      repack_ternary_blocks(source.blocks, packed.view(), TernaryForm::two_bit, pool).value();
  return got ? got->scales : std::vector<float>{};
}

TEST_P(TernaryRepackOnEveryIsa, finds_what_shares_a_scale) {
  using Scales = std::vector<float>;
  for (const auto& source : kSources) {
    const auto& format = source.format;
    const Scales rows{1, 1, -2, -2, 3, 3};
    EXPECT_EQ(scales_of(source, six_blocks(format, rows)), (Scales{1, -2, 3}));
    const Scales zero_row{0, 0, 2, 2, 2, 2};
    EXPECT_EQ(scales_of(source, six_blocks(format, zero_row, {0, 1})), Scales{2});
    EXPECT_EQ(scales_of(source, six_blocks(format, zero_row)), (Scales{0, 2, 2}));
    const Scales zero_blocks{0, 2, 2, 5, 2, 2};
    EXPECT_EQ(scales_of(source, six_blocks(format, zero_blocks, {0, 3})), Scales{2});
    EXPECT_EQ(scales_of(source, six_blocks(format, zero_blocks, {0})), Scales{});
    EXPECT_EQ(scales_of(source, six_blocks(format, zero_blocks, {3})), Scales{});
    const Scales none{0, 0, 0, 0, 0, 0};
    EXPECT_EQ(scales_of(source, six_blocks(format, none, {0, 1, 2, 3, 4, 5})), Scales{0});
    EXPECT_EQ(scales_of(source, six_blocks(format, {1, 2, 2, 2, 2, 2}, {0, 1, 2, 3, 4, 5})),
              Scales{1});
  }
}

TEST_P(TernaryRepackOnEveryIsa, says_what_is_wrong_with_gguf_blocks) {
  ThreadPool pool(2);
  for (const auto& [blocks, format] : kSources) {
    const auto message = [&](const quant::QuantizedView& view) {
      return repack_ternary_blocks(blocks, view, TernaryForm::two_bit, pool).error().message();
    };
    auto packed = fixtures::random_blocks(format, 70, 512, {0.25f});
    auto view = packed.view();
    view.bytes = view.bytes.subspan(1);
    EXPECT_NE(message(view).find("bytes, not"), std::string::npos);
    view.cols = 511;
    EXPECT_NE(message(view).find("whole blocks of 256, not 511"), std::string::npos);
    view.rows = 0;
    EXPECT_NE(message(view).find("no elements"), std::string::npos);
    quant::store_bytes(packed.data() + 139 * format.bytes + format.scale_offsets[0],
                       uint16_t{0x7C00});
    EXPECT_NE(message(packed.view()).find("row 69, column 256: its scale is not a finite"),
              std::string::npos);
    if (format.problem == nullptr) continue;
    packed.data()[47 * format.bytes + 5] |= 0x0C;
    EXPECT_NE(message(packed.view()).find("row 23, column 256: it holds code 3"),
              std::string::npos);
  }
}

/// Random codes and a scale, as bitnet.cpp's writer has them.
PackedBytes random_i2s(I2sLayout layout, const quant::TernaryMatrix& ternary) {
  const auto bytes = pack_i2s(ternary, layout);
  PackedBytes packed(ternary.rows, ternary.cols, bytes.size());
  std::ranges::copy(bytes, packed.data());
  return packed;
}
quant::TernaryMatrix random_ternary(size_t rows, size_t cols) {
  quant::TernaryMatrix ternary{.rows = rows, .cols = cols, .codes = {}, .scales = {0.5f}};
  Rng rng(3);
  for (size_t i = 0; i < rows * cols; ++i) {
    ternary.codes.push_back(static_cast<int8_t>(static_cast<int>(rng.below(3)) - 1));
  }
  return ternary;
}

TEST_P(TernaryRepackOnEveryIsa, makes_the_tiles_of_the_weights_in_i2s) {
  for (const auto layout : quant::kI2sLayouts) {
    for (const size_t rows : {1u, 4u, 16u, 20u, 64u, 68u, 131u, 132u}) {
      for (const size_t cols : {1u, 15u, 16u, 17u, 64u, 100u, 128u, 320u, 640u}) {
        if (!check_i2s_shape(layout, rows, cols)) continue;
        const auto ternary = random_ternary(rows, cols);
        const auto packed = random_i2s(layout, ternary);
        for (const auto form : kForms) {
          ThreadPool pool(static_cast<unsigned>(1 + rows % 3));
          const auto got = repack_i2s(layout, packed.view(), form, pool);
          ASSERT_TRUE(got) << got.error().message();
          expect_tiles(got->tiles, ternary.codes);
          EXPECT_EQ(got->scales, std::vector{0.5f});
        }
      }
    }
  }
}

TEST_P(TernaryRepackOnEveryIsa, says_what_is_wrong_with_i2s) {
  ThreadPool pool(2);
  for (const auto layout : quant::kI2sLayouts) {
    auto packed = random_i2s(layout, random_ternary(136, 256));
    const auto message = [&](const quant::QuantizedView& view) {
      return repack_i2s(layout, view, TernaryForm::two_bit, pool).error().message();
    };
    auto view = packed.view();
    view.bytes = view.bytes.subspan(1);
    EXPECT_NE(message(view).find("bytes, there are"), std::string::npos);
    const auto last_code = packed.data() + 136 * 64 - 1;
    *last_code = 0x57;
    EXPECT_EQ(message(packed.view()),
              "code 3 at row 135, column 255; the codes of I2_S are 0, 1 and 2");
    quant::store_bytes(last_code + 1, -1.0f);
    EXPECT_NE(message(packed.view()).find("not negative"), std::string::npos);
  }
}

}  // namespace
}  // namespace trilobite::kernels
