// q8_0, q4_0 and q4_1: blocks of 32 weights, one f16 scale (q4_1: and one f16 minimum) each. The
// rules are those of ggml's reference quantiser, to the byte: the factor is the reciprocal in f32
// of the scale before it is rounded to f16.

#include <algorithm>
#include <cmath>

#include "quant/byte_order.hpp"
#include "quant/gguf_block.hpp"
#include "quant/rounding.hpp"

namespace trilobite::quant {
namespace {

constexpr size_t kColumns = 32;
constexpr size_t kHalf = kColumns / 2;
constexpr float kLargestF16 = 65504.0f;

/// The weight of largest magnitude with its sign; the first of equals.
float extreme_of(const float* weights) {
  float extreme = 0;
  for (size_t i = 0; i < kColumns; ++i) {
    if (std::abs(weights[i]) > std::abs(extreme)) extreme = weights[i];
  }
  return extreme;
}

/// Truncation after adding a half: for values that are never negative.
uint8_t nibble_of(float value) {
  return static_cast<uint8_t>(std::min(15, static_cast<int>(value)));
}

/// Byte i holds weight i in its low and weight i + 16 in its high nibble.
template <typename Code>
void pack_nibbles(const float* weights, uint8_t* nibbles, Code code) {
  for (size_t i = 0; i < kHalf; ++i) {
    nibbles[i] = static_cast<uint8_t>(code(weights[i]) | code(weights[i + kHalf]) << 4);
  }
}

template <typename Value>
void unpack_nibbles(const uint8_t* nibbles, float* weights, Value value) {
  for (size_t i = 0; i < kHalf; ++i) {
    weights[i] = value(nibbles[i] & 15);
    weights[i + kHalf] = value(nibbles[i] >> 4);
  }
}

void encode_q8_0(const float* weights, uint8_t* block) {
  const float scale = std::abs(extreme_of(weights)) / 127.0f;
  const float factor = finite_quotient(1.0f, scale);
  store_f16(block, scale);
  for (size_t i = 0; i < kColumns; ++i) {
    block[2 + i] = static_cast<uint8_t>(round_half_away(weights[i] * factor));
  }
}

void decode_q8_0(const uint8_t* block, float* weights) {
  const float scale = load_f16(block);
  for (size_t i = 0; i < kColumns; ++i) {
    weights[i] = static_cast<float>(static_cast<int8_t>(block[2 + i])) * scale;
  }
}

/// The extreme weight becomes code -8, so the scale has the opposite sign of it.
void encode_q4_0(const float* weights, uint8_t* block) {
  const float scale = extreme_of(weights) / -8.0f;
  const float factor = finite_quotient(1.0f, scale);
  store_f16(block, scale);
  pack_nibbles(weights, block + 2, [=](float w) { return nibble_of(w * factor + 8.5f); });
}

void decode_q4_0(const uint8_t* block, float* weights) {
  const float scale = load_f16(block);
  unpack_nibbles(block + 2, weights,
                 [=](int code) { return static_cast<float>(code - 8) * scale; });
}

void encode_q4_1(const float* weights, uint8_t* block) {
  const auto [low, high] = std::ranges::minmax(std::span(weights, kColumns));
  const float scale = (high - low) / 15.0f;
  const float factor = finite_quotient(1.0f, scale);
  store_f16(block, scale);
  store_f16(block + 2, low);
  pack_nibbles(weights, block + 4,
               [=, minimum = low](float w) { return nibble_of((w - minimum) * factor + 0.5f); });
}

void decode_q4_1(const uint8_t* block, float* weights) {
  const float scale = load_f16(block);
  const float minimum = load_f16(block + 2);
  unpack_nibbles(block + 4, weights,
                 [=](int code) { return static_cast<float>(code) * scale + minimum; });
}

}  // namespace

std::vector<BlockFormat> simple_block_formats() {
  return {{.name = "q8_0",
           .columns = kColumns,
           .bytes = 34,
           .code_bits = 8,
           .largest_magnitude = 127 * kLargestF16,
           .scale_offsets = {0},
           .encode = encode_q8_0,
           .decode = decode_q8_0},
          {.name = "q4_0",
           .columns = kColumns,
           .bytes = 18,
           .code_bits = 4,
           .largest_magnitude = 8 * kLargestF16,
           .scale_offsets = {0},
           .encode = encode_q4_0,
           .decode = decode_q4_0},
          {.name = "q4_1",
           .columns = kColumns,
           .bytes = 20,
           .code_bits = 4,
           .largest_magnitude = kLargestF16,
           .scale_offsets = {0, 2},
           .encode = encode_q4_1,
           .decode = decode_q4_1}};
}

}  // namespace trilobite::quant
