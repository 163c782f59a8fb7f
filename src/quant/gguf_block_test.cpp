#include "quant/gguf_block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "quant/byte_order.hpp"
#include "quant/matrices_for_test.hpp"

namespace trilobite::quant {
namespace {

using testing::HasSubstr;

std::vector<BlockFormat> all_formats() {
  auto formats = simple_block_formats();
  for (const auto& more : {k_block_formats(), ternary_block_formats()}) {
    formats.insert(formats.end(), more.begin(), more.end());
  }
  return formats;
}

BlockFormat format_named(std::string_view name) {
  for (const auto& format : all_formats()) {
    if (format.name == name) return format;
  }
  ADD_FAILURE() << name;
  return all_formats()[0];
}

std::vector<uint8_t> encode(std::string_view name, const std::vector<float>& weights) {
  const auto format = format_named(name);
  EXPECT_EQ(weights.size(), format.columns);
  std::vector<uint8_t> block(format.bytes);
  format.encode(weights.data(), block.data());
  return block;
}

std::vector<float> decode(std::string_view name, const std::vector<uint8_t>& block) {
  const auto format = format_named(name);
  EXPECT_EQ(block.size(), format.bytes);
  std::vector<float> weights(format.columns);
  format.decode(block.data(), weights.data());
  return weights;
}

/// Weights start at 0; some are set.
std::vector<float> weights_with(size_t count, std::initializer_list<std::pair<size_t, float>> set) {
  std::vector<float> weights(count);
  for (const auto& [index, value] : set) weights[index] = value;
  return weights;
}

// 1.0 as f16 is 0x3C00, 0.5 is 0x3800, -1.0 is 0xBC00: bytes low first.

TEST(Q8_0, bytes_worked_by_hand) {
  const auto block =
      encode("q8_0", weights_with(32, {{0, 127}, {1, -127}, {2, 2.5f}, {31, -2.5f}}));
  EXPECT_EQ(block[0], 0x00);
  EXPECT_EQ(block[1], 0x3C);
  EXPECT_EQ(block[2], 127);
  EXPECT_EQ(block[3], 256 - 127);
  EXPECT_EQ(block[4], 3);  // ties go away from zero
  EXPECT_EQ(block[33], 256 - 3);
  EXPECT_EQ(decode("q8_0", block)[31], -3.0f);
}

TEST(Q4_0, bytes_worked_by_hand) {
  // Extreme -8: scale 1, code 0. 7 is 15, 8 would be 16 and is clipped, 0 is 8.
  const auto block = encode("q4_0", weights_with(32, {{0, -8}, {16, 7}, {1, 8}, {17, -0.5f}}));
  EXPECT_EQ(block[1], 0x3C);
  EXPECT_EQ(block[2], 0xF0);
  EXPECT_EQ(block[3], 0x8F);
  EXPECT_EQ(block[4], 0x88);
  const auto positive = encode("q4_0", weights_with(32, {{0, 8}}));
  EXPECT_EQ(positive[1], 0xBC);  // a positive extreme makes the scale negative
  EXPECT_EQ(decode("q4_0", positive)[0], 8.0f);
}

TEST(Q4_1, bytes_worked_by_hand) {
  const auto block = encode("q4_1", weights_with(32, {{0, -1}, {1, 14}, {16, 0.5f}}));
  EXPECT_EQ(block[1], 0x3C);  // scale 15 / 15
  EXPECT_EQ(block[3], 0xBC);  // minimum -1
  EXPECT_EQ(block[4], 0x20);  // 0 below; (0.5 + 1) + 0.5 above
  EXPECT_EQ(block[5], 0x1F);
  EXPECT_EQ(decode("q4_1", block)[1], 14.0f);
  EXPECT_EQ(decode("q4_1", block)[16], 1.0f);
}

TEST(Tq2_0, each_weight_is_where_the_document_says) {
  for (const size_t index : {0u, 31u, 32u, 127u, 128u, 200u, 255u}) {
    const auto block = encode("tq2_0", weights_with(256, {{index, 0.5f}}));
    EXPECT_EQ(block[64], 0x00);
    EXPECT_EQ(block[65], 0x38);
    const size_t byte = index / 128 * 32 + index % 32;
    const auto shift = 2 * (index % 128 / 32);
    for (size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(block[i], i == byte ? 0x55 + (1u << shift) : 0x55) << index;
    }
  }
}

TEST(Tq1_0, bytes_worked_by_hand) {
  // All digits 1: 11111 in base 3 is 121, ceil(121 * 256 / 243) = 128; the last four bytes hold
  // four digits and a 0: 120, ceil(120 * 256 / 243) = 127.
  const auto zeros = encode("tq1_0", weights_with(256, {}));
  for (size_t i = 0; i < 52; ++i) EXPECT_EQ(zeros[i], i < 48 ? 128 : 127) << i;
  // Weight 32 is the second digit of byte 0: 121 + 27 = 148, ceil(148 * 256 / 243) = 156.
  EXPECT_EQ(encode("tq1_0", weights_with(256, {{32, 1}}))[0], 156);
  // Weight 160 + 16 is the second digit of byte 32, weight 240 + 4 that of byte 48: 120 + 27 = 147.
  EXPECT_EQ(encode("tq1_0", weights_with(256, {{176, 1}}))[32], 156);
  EXPECT_EQ(encode("tq1_0", weights_with(256, {{244, 1}}))[48], 155);
}

TEST(Tq1_0, every_byte_decodes_to_ternary_digits) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::vector<uint8_t> block(54, static_cast<uint8_t>(byte));
    store_f16(block.data() + 52, 1.0f);
    for (const float weight : decode("tq1_0", block)) EXPECT_LE(std::abs(weight), 1.0f);
  }
}

TEST(Tq2_0, code_3_is_an_error) {
  const auto format = format_named("tq2_0");
  auto block = encode("tq2_0", weights_with(256, {{3, 1}}));
  EXPECT_EQ(format.problem(block.data()), nullptr);
  for (unsigned byte = 0; byte < 256; ++byte) {
    block[63] = static_cast<uint8_t>(byte);
    bool three = false;
    for (unsigned n = 0; n < 4; ++n) three = three || (byte >> 2 * n & 3) == 3;
    EXPECT_EQ(format.problem(block.data()) != nullptr, three) << byte;
  }
}

TEST(Q6_K, decoding_worked_by_hand) {
  // d = 1, all sub-scales 0 but those of the weights looked at; code bits spread over ql and qh.
  std::vector<uint8_t> block(210);
  store_f16(block.data() + 208, 1.0f);
  block[192] = 2;                             // sub-block 0: weights 0..15
  block[192 + 6] = static_cast<uint8_t>(-1);  // weights 96..111
  block[192 + 8 + 2] = 1;                     // weights 128 + 32..47
  block[0] = 0x05;                            // low bits of weight 0, high nibble: of weight 64
  block[128] = 0b11'00'00'10;                 // high bits of weights 96, 64, 32, 0
  block[32] = 0x70;                           // high nibble: low bits of weight 96
  block[64 + 32] = 0x0F;                      // low bits of weight 160
  const auto weights = decode("q6_k", block);
  EXPECT_EQ(weights[0], 2.0f * (0x25 - 32));
  EXPECT_EQ(weights[96], -1.0f * (0x37 - 32));
  EXPECT_EQ(weights[160], 1.0f * (0x0F - 32));
  EXPECT_EQ(weights[16], 0.0f);
}

TEST(Q4_K, decoding_worked_by_hand) {
  std::vector<uint8_t> block(144);
  store_f16(block.data(), 2.0f);
  store_f16(block.data() + 2, 0.5f);
  uint8_t* scales = block.data() + 4;
  scales[1] = 3 | 0b10 << 6;     // sub-block 1: scale 3; high bits of the scale of sub-block 5
  scales[5] = 4 | 0b01 << 6;     // sub-block 1: minimum 4; high bits of the minimum of sub-block 5
  scales[9] = 0x0A | 0x07 << 4;  // sub-block 5: scale 0x2A, minimum 0x17
  block[16] = 0x90;              // weight 0: 0, weight 32: 9
  block[16 + 64] = 0x20;         // weight 128: 0, weight 160: 2
  const auto weights = decode("q4_k", block);
  EXPECT_EQ(weights[32], 2.0f * 3 * 9 - 0.5f * 4);
  EXPECT_EQ(weights[160], 2.0f * 0x2A * 2 - 0.5f * 0x17);
  EXPECT_EQ(weights[0], 0.0f);
}

TEST(KBlocks, weights_on_the_grid_come_back_almost_exactly) {
  // Per sub-block one of the grids that the format can hold; d = 2^-6 is an exact f16.
  std::vector<float> weights(256);
  for (size_t i = 0; i < 256; ++i) {
    const size_t sub = i / 32;
    const float step = 0x1p-6f * static_cast<float>(sub == 0 ? 63 : 7 * sub);
    weights[i] = step * static_cast<float>(i % 16);
  }
  const auto back = decode("q4_k", encode("q4_k", weights));
  for (size_t i = 0; i < 256; ++i) EXPECT_NEAR(back[i], weights[i], 1e-5f) << i;
}

uint64_t fnv1a(std::span<const uint8_t> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

/// Gaussian; and positive, with another offset in each quarter of a row.
std::pair<fixtures::Weights, fixtures::Weights> weights_of_both_kinds() {
  const auto gaussian = fixtures::gaussian(64, 1024);
  auto positive = gaussian;
  for (size_t i = 0; i < positive.values.size(); ++i) {
    positive.values[i] = std::abs(positive.values[i]) + 0.01f * static_cast<float>(i % 1024 / 256);
  }
  return {gaussian, positive};
}

uint64_t hash_of_packed(const BlockFormat& format, const fixtures::Weights& weights) {
  std::vector<uint8_t> bytes(weights.values.size() / format.columns * format.bytes);
  quantize_blocks(format, weights.view(), bytes);
  return fnv1a(bytes);
}

TEST(Blocks, quantizing_gives_the_bytes_of_llama_cpp) {
  // FNV-1a of what quantize_row_*_ref of llama.cpp b21e4de (GCC 12 -O2, no contraction) makes of
  // the same weights.
  const std::map<std::string_view, std::pair<uint64_t, uint64_t>> hashes = {
      {"q8_0", {0x8df0628dc001d801, 0xf7b67687586fe2f7}},
      {"q4_0", {0x176803e56f3c46c0, 0x055434ad0d59ced9}},
      {"q4_1", {0x1c4b5329cf86f420, 0x9f45a1a8adfefeb5}},
      {"q6_k", {0x2dd335f9d73e2fad, 0x74fad16161f2db55}},
      {"q4_k", {0x3ceca6e14d7d2b01, 0x2ed99e99e6e216e8}},
      {"tq1_0", {0xa56fd6a76847343f, 0x665bac498ea025be}},
      {"tq2_0", {0x56522ce16ba90730, 0xe362cf82c016ade7}}};
  const auto [gaussian, positive] = weights_of_both_kinds();
  for (const auto& format : all_formats()) {
    ASSERT_TRUE(hashes.contains(format.name)) << format.name;
    EXPECT_EQ(hash_of_packed(format, gaussian), hashes.at(format.name).first) << format.name;
    EXPECT_EQ(hash_of_packed(format, positive), hashes.at(format.name).second) << format.name;
  }
}

TEST(Blocks, zeros_come_back_as_zeros) {
  for (const auto& format : all_formats()) {
    const std::vector<float> zeros(format.columns);
    EXPECT_EQ(decode(format.name, encode(format.name, zeros)), zeros) << format.name;
  }
}

TEST(Blocks, the_largest_and_the_smallest_weights_keep_every_scale_finite) {
  for (const auto& format : all_formats()) {
    const float sizes[] = {format.largest_magnitude, 1e-7f, 1e-20f, 1e-38f, 3e-39f, 1e-44f, 1e-45f};
    for (const float size : sizes) {
      for (const auto& shape : {fixtures::gaussian(1, format.columns, 1.0f),
                                fixtures::ternary(1, format.columns, 1.0f)}) {
        auto weights = shape.values;
        for (float& weight : weights) weight = std::clamp(weight, -1.0f, 1.0f) * size;
        weights[3] = size;
        for (const float weight : decode(format.name, encode(format.name, weights))) {
          ASSERT_LE(std::abs(weight), 1.15f * size + 1e-6f) << format.name << " " << size;
        }
      }
    }
  }
}

TEST(Q4_K, a_tiny_weight_among_zeros_is_zero) {
  // 63 / scale overflowed, and infinity times the scale 0 of the other sub-blocks was NaN; likewise
  // with the minima. Clang's float-cast-overflow sees it, the values hardly show it.
  for (const float tiny : {1e-37f, -1e-37f, 1e-42f, -1e-42f, 1e-29f}) {
    for (const float large : {0.0f, 1.0f}) {
      const auto weights = weights_with(256, {{0, tiny}, {40, large}});
      const auto back = decode("q4_k", encode("q4_k", weights));
      EXPECT_EQ(back[0], 0.0f) << tiny;
      EXPECT_NEAR(back[40], large, 1e-3f) << tiny;
    }
  }
}

TEST(Blocks, a_scale_that_is_not_finite_is_an_error_with_its_place) {
  for (const auto& format : all_formats()) {
    const auto weights = fixtures::gaussian(2, 2 * format.columns);
    std::vector<uint8_t> bytes(4 * format.bytes);
    quantize_blocks(format, weights.view(), bytes);
    std::vector<float> values(weights.values.size());
    const QuantizedView view{.rows = 2, .cols = weights.cols, .bytes = bytes};
    ASSERT_TRUE(dequantize_blocks(format, view, values));
    for (const size_t offset : format.scale_offsets) {
      for (const uint16_t bad : {uint16_t{0x7C00}, uint16_t{0xFC00}, uint16_t{0x7E01}}) {
        auto damaged = bytes;
        store_bytes(damaged.data() + 3 * format.bytes + offset, bad);
        const auto done =
            dequantize_blocks(format, {.rows = 2, .cols = weights.cols, .bytes = damaged}, values);
        ASSERT_FALSE(done) << format.name;
        EXPECT_THAT(done.error().message(), HasSubstr("row 1, column"));
        EXPECT_THAT(done.error().message(), HasSubstr("not a finite number"));
      }
    }
  }
}

}  // namespace
}  // namespace trilobite::quant
