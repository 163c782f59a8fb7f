#include "kernels/group_repack.hpp"

#include <bit>

#include "kernels/kernel_test_inputs.hpp"
#include "kernels/packed_bytes_for_test.hpp"

namespace trilobite::kernels {
namespace {

using fixtures::kAnyScales;
using fixtures::random_blocks;
using quant::GroupTiles;
using quant::kGroupColumns;

class GroupRepackOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(GroupRepackOnEveryIsa);

struct Source {
  GroupBlocks blocks;
  const char* name;
};
constexpr Source kSources[] = {{GroupBlocks::q4_0, "q4_0"},
                               {GroupBlocks::q8_0, "q8_0"},
                               {GroupBlocks::tq1_0, "tq1_0"},
                               {GroupBlocks::tq2_0, "tq2_0"}};

std::vector<float> values_of(const GroupTiles& tiles) {
  std::vector<float> values;
  for (size_t i = 0; i < tiles.rows() * tiles.groups(); ++i) {
    const auto group = tiles.group_at(i / tiles.groups(), i % tiles.groups());
    for (const int8_t code : group.codes) {
      values.push_back(static_cast<float>(code) * group.scale.to_float());
    }
  }
  return values;
}

void expect_same_bits(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(expected[i])) << i;
  }
}

TEST_P(GroupRepackOnEveryIsa, keeps_the_very_values_of_the_blocks) {
  for (const auto& [blocks, name] : kSources) {
    const auto& format = quant::block_format(name);
    for (const size_t rows : {1u, 15u, 16u, 17u, 64u, 70u, 131u}) {
      for (const size_t count : {1u, 3u, 10u}) {
        const auto packed = random_blocks(format, rows, count * format.columns, kAnyScales);
        for (const unsigned threads : {1u, 3u}) {
          ThreadPool pool(threads);
          const auto tiles = repack_groups(blocks, packed.view(), pool);
          ASSERT_TRUE(tiles) << tiles.error().message();
          expect_same_bits(values_of(*tiles), fixtures::decoded(format, packed.view()));
        }
      }
    }
  }
}

// Kernels read the rows up to a whole tile: their scales must be 0.
TEST_P(GroupRepackOnEveryIsa, pads_with_scales_of_0) {
  ThreadPool pool(1);
  for (const auto& [blocks, name] : kSources) {
    const auto& format = quant::block_format(name);
    const auto packed = random_blocks(format, 65, format.columns, {1.0f});
    const auto tiles = repack_groups(blocks, packed.view(), pool).value();
    for (size_t row = 65; row < 80; ++row) {
      for (size_t g = 0; g < tiles.groups(); ++g) {
        ASSERT_EQ(tiles.group_at(row, g).scale.bits, 0) << name;
      }
    }
  }
}

TEST_P(GroupRepackOnEveryIsa, says_what_is_wrong_with_the_blocks) {
  ThreadPool pool(2);
  const auto& format = quant::block_format("q4_0");
  auto packed = random_blocks(format, 130, 64, kAnyScales);
  const auto message = [&](const quant::QuantizedView& view) {
    return repack_groups(GroupBlocks::q4_0, view, pool).error().message();
  };
  auto view = packed.view();
  view.cols = 63;
  EXPECT_EQ(message(view), "the columns of a q4_0 matrix are whole blocks of 32, not 63");
  view = packed.view();
  view.bytes = view.bytes.subspan(1);
  EXPECT_EQ(message(view), "a q4_0 matrix of 130 x 64 has 4680 bytes, not 4679");
  view.rows = SIZE_MAX / 2;
  EXPECT_NE(message(view).find("too large"), std::string::npos);
  view.rows = 0;
  EXPECT_NE(message(view).find("no elements"), std::string::npos);
  for (const uint16_t bad : {uint16_t{0x7C00}, uint16_t{0xFC00}, uint16_t{0x7E01}}) {
    quant::store_bytes(packed.data() + 259 * format.bytes, bad);
    EXPECT_EQ(message(packed.view()),
              "the q4_0 block at row 129, column 32: its scale is not a finite number");
  }
}

}  // namespace
}  // namespace trilobite::kernels
