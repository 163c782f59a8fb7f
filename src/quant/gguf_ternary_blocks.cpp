// tq1_0 (5 trits a byte) and tq2_0 (2 bits each): blocks of 256 weights with one f16 scale, the
// largest magnitude. Meant for weights that are ternary already; others round to the nearest of
// -scale, 0, scale, ties away from 0, as ggml's reference quantiser does it.

#include <algorithm>
#include <array>
#include <cmath>

#include "quant/byte_order.hpp"
#include "quant/gguf_block.hpp"
#include "quant/rounding.hpp"

namespace trilobite::quant {
namespace {

constexpr size_t kColumns = 256;
constexpr float kLargestF16 = 65504.0f;

using Digits = std::array<uint8_t, kColumns>;  // w + 1

/// The scale, and the digit of each weight.
float digits_of(const float* weights, Digits& digits) {
  float scale = 0;
  for (size_t i = 0; i < kColumns; ++i) scale = std::max(scale, std::abs(weights[i]));
  const float factor = finite_quotient(1.0f, scale);
  for (size_t i = 0; i < kColumns; ++i) {
    digits[i] = static_cast<uint8_t>(round_half_away(weights[i] * factor) + 1);
  }
  return scale;
}

void scale_digits(const Digits& digits, float scale, float* weights) {
  for (size_t i = 0; i < kColumns; ++i) weights[i] = static_cast<float>(digits[i] - 1) * scale;
}

/// A run of bytes in which byte i holds `digits` weights that lie `bytes` apart.
struct Run {
  size_t first_byte;
  size_t bytes;
  size_t digits;
  size_t first_weight;
};

// 160 + 80 weights at five, 16 at four a byte.
constexpr std::array kTq1Runs{Run{0, 32, 5, 0}, Run{32, 16, 5, 160}, Run{48, 4, 4, 240}};
constexpr size_t kTq1ScaleAt = 52;
// 128 weights at four a byte, twice.
constexpr std::array kTq2Runs{Run{0, 32, 4, 0}, Run{32, 32, 4, 128}};
constexpr size_t kTq2ScaleAt = 64;

/// The number 0.d0 d1 d2 d3 d4 in base 3 as a fraction of 256, rounded up, so that a reader gets
/// digit after digit as the part above 256 of byte * 3.
uint8_t byte_of_trits(const uint8_t* digits, const Run& run) {
  unsigned number = 0;
  for (size_t n = 0; n < 5; ++n) {
    number = number * 3 + (n < run.digits ? digits[n * run.bytes] : 0u);
  }
  return static_cast<uint8_t>((number * 256 + 242) / 243);
}

void encode_tq1_0(const float* weights, uint8_t* block) {
  Digits digits;
  const float scale = digits_of(weights, digits);
  for (const Run& run : kTq1Runs) {
    for (size_t i = 0; i < run.bytes; ++i) {
      block[run.first_byte + i] = byte_of_trits(digits.data() + run.first_weight + i, run);
    }
  }
  store_f16(block + kTq1ScaleAt, scale);
}

void decode_tq1_0(const uint8_t* block, float* weights) {
  Digits digits;
  for (const Run& run : kTq1Runs) {
    for (size_t i = 0; i < run.bytes; ++i) {
      unsigned fraction = block[run.first_byte + i];
      for (size_t n = 0; n < run.digits; ++n) {
        fraction *= 3;
        digits[run.first_weight + n * run.bytes + i] = static_cast<uint8_t>(fraction >> 8);
        fraction &= 0xFF;
      }
    }
  }
  scale_digits(digits, load_f16(block + kTq1ScaleAt), weights);
}

void encode_tq2_0(const float* weights, uint8_t* block) {
  Digits digits;
  const float scale = digits_of(weights, digits);
  for (const Run& run : kTq2Runs) {
    for (size_t i = 0; i < run.bytes; ++i) {
      unsigned byte = 0;
      for (size_t n = 0; n < run.digits; ++n) {
        byte |= static_cast<unsigned>(digits[run.first_weight + n * run.bytes + i]) << 2 * n;
      }
      block[run.first_byte + i] = static_cast<uint8_t>(byte);
    }
  }
  store_f16(block + kTq2ScaleAt, scale);
}

void decode_tq2_0(const uint8_t* block, float* weights) {
  Digits digits;
  for (const Run& run : kTq2Runs) {
    for (size_t n = 0; n < run.digits; ++n) {
      for (size_t i = 0; i < run.bytes; ++i) {
        digits[run.first_weight + n * run.bytes + i] =
            static_cast<uint8_t>(block[run.first_byte + i] >> 2 * n & 3);
      }
    }
  }
  scale_digits(digits, load_f16(block + kTq2ScaleAt), weights);
}

const char* problem_of_tq2_0(const uint8_t* block) {
  for (size_t i = 0; i < kTq2ScaleAt; ++i) {
    // Both bits of a pair set.
    if ((block[i] & block[i] >> 1 & 0x55) != 0) return "it holds code 3; ternary codes are 0, 1, 2";
  }
  return nullptr;
}

}  // namespace

std::vector<BlockFormat> ternary_block_formats() {
  return {{.name = "tq1_0",
           .columns = kColumns,
           .bytes = kTq1ScaleAt + 2,
           .code_bits = 2,
           .largest_magnitude = kLargestF16,
           .scale_offsets = {kTq1ScaleAt},
           .encode = encode_tq1_0,
           .decode = decode_tq1_0},
          {.name = "tq2_0",
           .columns = kColumns,
           .bytes = kTq2ScaleAt + 2,
           .code_bits = 2,
           .largest_magnitude = kLargestF16,
           .scale_offsets = {kTq2ScaleAt},
           .encode = encode_tq2_0,
           .decode = decode_tq2_0,
           .problem = problem_of_tq2_0}};
}

}  // namespace trilobite::quant
