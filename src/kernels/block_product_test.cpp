#include "kernels/block_product.hpp"

#include <bit>
#include <cmath>

#include "kernels/block_repack.hpp"
#include "kernels/group_absmax.hpp"
#include "kernels/kernel_test_inputs.hpp"
#include "kernels/packed_bytes_for_test.hpp"

namespace trilobite::kernels {
namespace {

using quant::kGroupColumns;
using quant::TiledBlocks;

class BlockProductOnEveryIsa : public EveryIsa {};
TRILOBITE_FOR_EVERY_ISA(BlockProductOnEveryIsa);

constexpr TiledBlocks kFormats[] = {TiledBlocks::q4_1, TiledBlocks::q4_k, TiledBlocks::q6_k};

struct Size {
  size_t rows, columns, tokens;
};

int random_x(size_t i) { return static_cast<int>(philox(4, 0, i)[0] % 255) - 127; }

/// A product of random blocks, whose result plain loops over the bytes of the file compute.
struct Problem {
  Problem(TiledBlocks format_, Size size, int (*x)(size_t) = random_x)
      : format(format_),
        block(quant::block_format(name_of(format))),
        rows(size.rows),
        columns(size.columns),
        tokens(size.tokens),
        groups(columns / kGroupColumns),
        stride(columns + 24),
        packed(fixtures::random_blocks(block, rows, columns, {0.01f, -0.37f, 0.002f, 1.0f})) {
    fill_activations(x);
  }
  void fill_activations(int (*x)(size_t)) {
    codes.resize(tokens * stride);
    sums.resize(tokens * groups);
    half_sums.resize(tokens * groups);
    for (size_t t = 0; t < tokens; ++t) {
      for (size_t g = 0; g < groups; ++g) {
        int halves[2] = {};
        for (size_t c = 0; c < kGroupColumns; ++c) {
          const int code = x(t * columns + g * kGroupColumns + c);
          codes[t * stride + g * kGroupColumns + c] = static_cast<int8_t>(code);
          halves[c / 16] += code;
        }
        sums[t * groups + g] = halves[0] + halves[1];
        half_sums[t * groups + g] = static_cast<int32_t>(
            (static_cast<uint32_t>(halves[0]) & 0xFFFF) | static_cast<uint32_t>(halves[1]) << 16);
        scales.push_back(std::abs(normal_at(6, 0, t * groups + g)));
      }
    }
  }

  struct Group {
    float scale = 0;    // of the sum of codes times x
    float minimum = 0;  // of the sum of x
  };
  const uint8_t* block_of(size_t row, size_t group) const {
    const size_t index = (row * columns + group * kGroupColumns) / block.columns;
    return packed.view().bytes.data() + index * block.bytes;
  }
  /// The codes of a group, for q6_k times the scales of its halves: from the values of its block
  /// with scales of 1 and minima of 0.
  std::vector<int> codes_of(size_t row, size_t group) const {
    std::vector<uint8_t> plain(block_of(row, group), block_of(row, group) + block.bytes);
    quant::store_f16(plain.data() + block.scale_offsets[0], 1.0f);
    if (format != TiledBlocks::q6_k) quant::store_f16(plain.data() + 2, 0.0f);
    if (format == TiledBlocks::q4_k) std::fill_n(plain.data() + 4, 4, uint8_t{1});
    if (format == TiledBlocks::q4_k) std::fill_n(plain.data() + 12, 4, uint8_t{1});
    std::vector<float> values(block.columns);
    block.decode(plain.data(), values.data());
    const size_t at = group * kGroupColumns % block.columns;
    return {values.begin() + static_cast<std::ptrdiff_t>(at),
            values.begin() + static_cast<std::ptrdiff_t>(at + kGroupColumns)};
  }
  /// Scale and minimum (a magnitude) of a group of q4_k, from its values with codes 1 and 0.
  Group q4_k_factors(size_t row, size_t group) const {
    std::vector<uint8_t> plain(block_of(row, group), block_of(row, group) + block.bytes);
    std::vector<float> values(block.columns);
    std::fill(plain.begin() + 16, plain.end(), uint8_t{0});
    block.decode(plain.data(), values.data());
    Group factors{.minimum = values[group % 8 * kGroupColumns]};
    quant::store_f16(plain.data() + 2, 0.0f);
    std::fill(plain.begin() + 16, plain.end(), uint8_t{0x11});
    block.decode(plain.data(), values.data());
    factors.scale = values[group % 8 * kGroupColumns];
    return factors;
  }
  Group factors_of(size_t row, size_t group) const {
    if (format == TiledBlocks::q4_k) return q4_k_factors(row, group);
    const uint8_t* from = block_of(row, group);
    Group factors{.scale = quant::load_f16(from + block.scale_offsets[0])};
    if (format == TiledBlocks::q4_1) factors.minimum = quant::load_f16(from + 2);
    return factors;
  }
  /// The outputs of one row for all tokens.
  std::vector<float> expected(size_t row) const {
    std::vector<float> totals(tokens);
    for (size_t g = 0; g < groups; ++g) {
      const auto weights = codes_of(row, g);
      const auto factors = factors_of(row, g);
      for (size_t t = 0; t < tokens; ++t) {
        int sum = 0;
        for (size_t c = 0; c < kGroupColumns; ++c) {
          sum += weights[c] * codes[t * stride + g * kGroupColumns + c];
        }
        const size_t at = t * groups + g;
        totals[t] += static_cast<float>(sum) * factors.scale * scales[at];
        if (format == TiledBlocks::q6_k) continue;
        totals[t] += factors.minimum * (static_cast<float>(sums[at]) * scales[at]);
      }
    }
    return totals;
  }

  std::vector<float> run(unsigned threads = 1) const {
    ThreadPool pool(threads);
    const auto tiles = repack_blocks(format, packed.view(), pool).value();
    std::vector<float> out(tokens * rows, -1e9f);
    const BlockCall call{
        .weights = tiles,
        .x = {codes.data(), stride, tokens, scales.data(), sums.data(), half_sums.data()},
        .out = out.data(),
        .out_stride = rows};
    pool.for_range(tiles.panels(), 1,
                   [&](size_t first, size_t last) { block_product(call, first, last); });
    return out;
  }
  void expect_exact() const {
    const auto out = run();
    for (size_t row = 0; row < rows; ++row) {
      const auto right = expected(row);
      for (size_t t = 0; t < tokens; ++t) {
        ASSERT_EQ(std::bit_cast<uint32_t>(out[t * rows + row]), std::bit_cast<uint32_t>(right[t]))
            << block.name << ", " << rows << "x" << columns << ", token " << t << " of " << tokens
            << ", row " << row;
      }
    }
  }

  TiledBlocks format;
  const quant::BlockFormat& block;
  size_t rows, columns, tokens, groups, stride;
  fixtures::PackedBytes packed;
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> sums, half_sums;
};

TEST_P(BlockProductOnEveryIsa, has_the_bits_of_plain_loops_at_awkward_sizes) {
  for (const auto format : kFormats) {
    const size_t block = quant::block_format(name_of(format)).columns;
    for (const size_t rows : {1u, 16u, 17u, 64u, 70u}) {
      for (const size_t blocks : {1u, 3u}) {
        for (const size_t tokens : {1u, 2u, 3u, 4u, 5u, 7u}) {
          Problem(format, {rows, blocks * block, tokens}).expect_exact();
        }
      }
    }
  }
}

TEST_P(BlockProductOnEveryIsa, has_the_bits_of_plain_loops_for_many_tokens) {
  for (const auto format : kFormats) {
    for (const size_t tokens : {8u, 13u, 97u}) Problem(format, {70, 512, tokens}).expect_exact();
  }
}

TEST_P(BlockProductOnEveryIsa, has_the_bits_of_plain_loops_at_the_size_of_a_model) {
  for (const auto format : kFormats) Problem(format, {64, 2560, 1}).expect_exact();
}

// Random blocks hold every code and scale; these are the activations that add up most.
TEST_P(BlockProductOnEveryIsa, does_not_saturate) {
  const auto least = [](size_t) { return -127; };
  const auto most = [](size_t) { return 127; };
  const auto both = [](size_t i) { return i % 2 == 0 ? 127 : -127; };
  for (const auto format : kFormats) {
    for (const size_t tokens : {1u, 4u, 6u}) {
      Problem(format, {64, 512, tokens}, least).expect_exact();
      Problem(format, {64, 512, tokens}, most).expect_exact();
      Problem(format, {64, 512, tokens}, both).expect_exact();
    }
  }
}

/// All codes and sub-scales at their extremes.
void expect_exact_with_bytes(TiledBlocks format, uint8_t byte, int (*x)(size_t)) {
  for (const size_t tokens : {1u, 2u, 6u}) {
    Problem problem(format, {64, 256, tokens}, x);
    uint8_t* data = problem.packed.data();
    std::fill_n(data, problem.packed.size(), byte);
    for (size_t at = 0; at < problem.packed.size(); at += problem.block.bytes) {
      if (format == TiledBlocks::q6_k) std::fill_n(data + at + 192, 16, uint8_t{0x80});
      for (const size_t offset : problem.block.scale_offsets) {
        quant::store_f16(data + at + offset, 0.5f);
      }
    }
    problem.expect_exact();
  }
}
TEST_P(BlockProductOnEveryIsa, does_not_saturate_where_all_codes_are_extreme) {
  const auto least = [](size_t) { return -127; };
  const auto most = [](size_t) { return 127; };
  for (const auto format : kFormats) {
    for (const uint8_t byte : {uint8_t{0x00}, uint8_t{0xFF}}) {
      expect_exact_with_bytes(format, byte, least);
      expect_exact_with_bytes(format, byte, most);
    }
  }
}

TEST_P(BlockProductOnEveryIsa, does_not_depend_on_threads) {
  for (const auto format : kFormats) {
    for (const size_t tokens : {1u, 33u}) {
      const Problem problem(format, {300, 256, tokens});
      const auto expected = problem.run(1);
      EXPECT_EQ(problem.run(2), expected);
      EXPECT_EQ(problem.run(3), expected);
    }
  }
}

TEST_P(BlockProductOnEveryIsa, takes_what_quantize_absmax_groups_makes) {
  std::vector<float> x(96);
  for (size_t i = 0; i < x.size(); ++i) x[i] = normal_at(2, 0, i);
  std::vector<int8_t> codes(x.size());
  std::vector<float> scales(3);
  std::vector<int32_t> sums(3), half_sums(3);
  ASSERT_TRUE(quantize_absmax_groups({.x = x.data(),
                                      .columns = x.size(),
                                      .codes = codes.data(),
                                      .scales = scales.data(),
                                      .sums = sums.data(),
                                      .half_sums = half_sums.data()}));
  for (size_t g = 0; g < 3; ++g) {
    int halves[2] = {};
    for (size_t c = 0; c < 32; ++c) halves[c / 16] += codes[g * 32 + c];
    EXPECT_EQ(sums[g], halves[0] + halves[1]);
    EXPECT_EQ(static_cast<int16_t>(half_sums[g]), halves[0]);
    EXPECT_EQ(half_sums[g] >> 16, halves[1]);
  }
}

}  // namespace
}  // namespace trilobite::kernels
