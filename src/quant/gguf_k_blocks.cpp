// q6_k and q4_k: super-blocks of 256 weights whose sub-blocks have small integer scales of their
// own. Decoding is exact. Encoding searches, for each sub-block, the scale (and minimum) with the
// least weighted squared error over the same candidates as ggml's reference quantiser.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "quant/byte_order.hpp"
#include "quant/gguf_block.hpp"
#include "quant/rounding.hpp"

namespace trilobite::quant {
namespace {

constexpr size_t kColumns = 256;
constexpr float kLargestF16 = 65504.0f;
using Codes = std::array<uint8_t, kColumns>;

// ---- q6_k: 16 sub-blocks of 16 weights, w = d * scale * (code - 32), scale int8, code 6 bits

constexpr size_t kQ6Sub = 16;
constexpr size_t kQ6HighAt = 128;
constexpr size_t kQ6ScalesAt = 192;
constexpr size_t kQ6ScaleAt = 208;
// Below this a sub-block is taken for zero.
constexpr float kQ6ZeroBelow = 1e-15f;

/// Sums over x = factor * w rounded to a code q, each weighted with w^2: large weights matter more.
struct ScaleFit {
  float wq = 0;  // sum of w^2 * w * q
  float qq = 0;  // sum of w^2 * q * q
  /// The scale with the least weighted squared error for these codes.
  float scale() const { return qq > 0 ? wq / qq : 0.0f; }
};

ScaleFit fit_scale(const float* weights, float factor) {
  ScaleFit fit;
  for (size_t i = 0; i < kQ6Sub; ++i) {
    const float w = weights[i];
    const auto q = static_cast<float>(round_clipped(factor * w, -32, 31));
    fit.wq += w * w * w * q;
    fit.qq += w * w * q * q;
  }
  return fit;
}

/// Tries to put the extreme weight onto -31.1, -31.2, ... -32.9; what lies beyond -32 is clipped.
float best_q6_scale(const float* weights) {
  float extreme = 0;
  for (size_t i = 0; i < kQ6Sub; ++i) {
    if (std::abs(weights[i]) > std::abs(extreme)) extreme = weights[i];
  }
  if (std::abs(extreme) < kQ6ZeroBelow) return 0;
  const ScaleFit plain = fit_scale(weights, -32.0f / extreme);
  float scale = plain.scale();
  float explained = scale * plain.wq;  // weighted square of the weights minus the error
  for (int step = -9; step <= 9; ++step) {
    if (step == 0) continue;
    const auto fit = fit_scale(weights, -(32.0f + 0.1f * static_cast<float>(step)) / extreme);
    if (fit.qq > 0 && fit.wq * fit.wq > explained * fit.qq) {
      scale = fit.scale();
      explained = scale * fit.wq;
    }
  }
  return scale;
}

/// Weight 128 * h + 32 * q + i: its low 4 bits share a byte with the weight 64 further, its high 2
/// bits one with those 32, 64 and 96 away.
struct Q6Place {
  size_t low_byte;
  unsigned low_shift;
  size_t high_byte;
  unsigned high_shift;
};

constexpr Q6Place q6_place(size_t index) {
  const size_t half = index / 128;
  const size_t quarter = index % 128 / 32;
  const size_t i = index % 32;
  return {64 * half + 32 * (quarter % 2) + i, quarter < 2 ? 0u : 4u, kQ6HighAt + 32 * half + i,
          2 * static_cast<unsigned>(quarter)};
}

void pack_q6_codes(const Codes& codes, uint8_t* block) {
  for (size_t i = 0; i < kColumns; ++i) {
    const auto place = q6_place(i);
    auto& low = block[place.low_byte];
    auto& high = block[place.high_byte];
    low = static_cast<uint8_t>(low | (codes[i] & 15) << place.low_shift);
    high = static_cast<uint8_t>(high | codes[i] >> 4 << place.high_shift);
  }
}

void encode_q6_k(const float* weights, uint8_t* block) {
  std::fill_n(block, kQ6ScaleAt + 2, uint8_t{0});
  std::array<float, kColumns / kQ6Sub> scales;
  float extreme = 0;
  for (size_t s = 0; s < scales.size(); ++s) {
    scales[s] = best_q6_scale(weights + s * kQ6Sub);
    if (std::abs(scales[s]) > std::abs(extreme)) extreme = scales[s];
  }
  if (std::abs(extreme) < kQ6ZeroBelow) return;
  const float factor = -128.0f / extreme;
  store_f16(block + kQ6ScaleAt, 1.0f / factor);
  const float stored = load_f16(block + kQ6ScaleAt);
  Codes codes{};
  for (size_t s = 0; s < scales.size(); ++s) {
    const int sub_scale = round_clipped(factor * scales[s], -128, 127);
    block[kQ6ScalesAt + s] = static_cast<uint8_t>(sub_scale);
    const float step = stored * static_cast<float>(sub_scale);
    if (step == 0) continue;
    for (size_t i = s * kQ6Sub; i < (s + 1) * kQ6Sub; ++i) {
      codes[i] = static_cast<uint8_t>(round_clipped(weights[i] / step, -32, 31) + 32);
    }
  }
  pack_q6_codes(codes, block);
}

void decode_q6_k(const uint8_t* block, float* weights) {
  const float scale = load_f16(block + kQ6ScaleAt);
  for (size_t i = 0; i < kColumns; ++i) {
    const auto place = q6_place(i);
    const int code = (block[place.low_byte] >> place.low_shift & 15) |
                     (block[place.high_byte] >> place.high_shift & 3) << 4;
    const auto sub_scale = static_cast<int8_t>(block[kQ6ScalesAt + i / kQ6Sub]);
    weights[i] = scale * static_cast<float>(sub_scale) * static_cast<float>(code - 32);
  }
}

// ---- q4_k: 8 sub-blocks of 32 weights, w = d * scale * code - dmin * minimum, scale and minimum 6
// bits

constexpr size_t kQ4Sub = 32;
constexpr size_t kQ4Subs = kColumns / kQ4Sub;
constexpr size_t kQ4ScalesAt = 4;
constexpr size_t kQ4CodesAt = 16;
// A narrower range than this is none: its scale would be 0 as f16, and 15 / range might overflow.
constexpr float kQ4FlatBelow = 1e-30f;
using SubWeights = std::array<float, kQ4Sub>;
using SubCodes = std::array<float, kQ4Sub>;

/// w = scale * code + minimum; the minimum is never positive.
struct Line {
  float scale = 0;
  float minimum = 0;
};

SubCodes codes_on(const float* weights, float minimum, float factor) {
  SubCodes codes;
  for (size_t i = 0; i < kQ4Sub; ++i) {
    codes[i] = static_cast<float>(round_clipped(factor * (weights[i] - minimum), 0, 15));
  }
  return codes;
}

float weighted_error(const float* weights, const SubWeights& importance, const SubCodes& codes,
                     const Line& line) {
  float error = 0;
  for (size_t i = 0; i < kQ4Sub; ++i) {
    const float difference = line.scale * codes[i] + line.minimum - weights[i];
    error += importance[i] * (difference * difference);
  }
  return error;
}

/// The line with the least weighted squared error for given codes; none when all codes are equal.
std::optional<Line> fit_line(const float* weights, const SubWeights& importance,
                             const SubCodes& codes) {
  float sum = 0, sum_w = 0, sum_q = 0, sum_qq = 0, sum_wq = 0;
  for (size_t i = 0; i < kQ4Sub; ++i) {
    const float v = importance[i];
    sum += v;
    sum_w += v * weights[i];
    sum_q += v * codes[i];
    sum_qq += v * codes[i] * codes[i];
    sum_wq += v * codes[i] * weights[i];
  }
  const float determinant = sum * sum_qq - sum_q * sum_q;
  if (!(determinant > 0)) return std::nullopt;
  const Line line{(sum * sum_wq - sum_w * sum_q) / determinant,
                  (sum_qq * sum_w - sum_q * sum_wq) / determinant};
  if (line.minimum > 0) return Line{sum_wq / sum_qq, 0};
  return line;
}

/// Large weights matter more, small ones not nothing: root mean square plus magnitude.
SubWeights importance_of(const float* weights) {
  float squares = 0;
  for (size_t i = 0; i < kQ4Sub; ++i) squares += weights[i] * weights[i];
  const float level = std::sqrt(squares / static_cast<float>(kQ4Sub));
  SubWeights importance;
  for (size_t i = 0; i < kQ4Sub; ++i) importance[i] = level + std::abs(weights[i]);
  return importance;
}

/// Starts from the range of the weights, then stretches it over 14.0, 14.1, ... 16.0 steps and fits
/// a line through each result. A better line's minimum is where the next candidates start from.
Line best_q4_line(const float* weights) {
  const auto [least, most] = std::ranges::minmax(std::span(weights, kQ4Sub));
  const float high = most;
  Line best{0, std::min(least, 0.0f)};
  if (high - best.minimum < kQ4FlatBelow) return best;
  const auto importance = importance_of(weights);
  const float factor = 15.0f / (high - best.minimum);
  best.scale = 1.0f / factor;
  float least_error =
      weighted_error(weights, importance, codes_on(weights, best.minimum, factor), best);
  for (int step = 0; step <= 20; ++step) {
    const float steps = -1.0f + 0.1f * static_cast<float>(step) + 15.0f;
    const auto codes = codes_on(weights, best.minimum, steps / (high - best.minimum));
    const auto line = fit_line(weights, importance, codes);
    if (!line) continue;
    const float error = weighted_error(weights, importance, codes, *line);
    if (error < least_error) {
      least_error = error;
      best = *line;
    }
  }
  return best;
}

/// 6-bit scale and minimum of a sub-block.
struct SubScale {
  int scale = 0;
  int minimum = 0;
};

/// Sub-blocks 0..3 have a byte each for scale and minimum; the other four keep their low 4 bits in
/// bytes 8..11 and their high 2 bits on top of those of the first four.
void put_sub_scale(uint8_t* packed, size_t sub, const SubScale& value) {
  const auto add = [](uint8_t& byte, int bits) { byte = static_cast<uint8_t>(byte | bits); };
  if (sub < 4) {
    add(packed[sub], value.scale);
    add(packed[sub + 4], value.minimum);
  } else {
    add(packed[sub + 4], (value.scale & 15) | (value.minimum & 15) << 4);
    add(packed[sub - 4], value.scale >> 4 << 6);
    add(packed[sub], value.minimum >> 4 << 6);
  }
}

SubScale get_sub_scale(const uint8_t* packed, size_t sub) {
  if (sub < 4) return {packed[sub] & 63, packed[sub + 4] & 63};
  return {(packed[sub + 4] & 15) | packed[sub - 4] >> 6 << 4,
          packed[sub + 4] >> 4 | packed[sub] >> 6 << 4};
}

/// Byte 32 * p + i of the codes holds weight i of sub-block 2p below and of 2p + 1 above.
void put_q4_code(uint8_t* block, size_t index, int code) {
  auto& byte = block[kQ4CodesAt + index / 64 * 32 + index % 32];
  byte = static_cast<uint8_t>(byte | code << (index % 64 < 32 ? 0 : 4));
}

int get_q4_code(const uint8_t* block, size_t index) {
  return block[kQ4CodesAt + index / 64 * 32 + index % 32] >> (index % 64 < 32 ? 0 : 4) & 15;
}

void encode_q4_k(const float* weights, uint8_t* block) {
  std::fill_n(block, kQ4CodesAt + kColumns / 2, uint8_t{0});
  std::array<Line, kQ4Subs> lines;
  float largest_scale = 0;
  float largest_minimum = 0;  // as a magnitude
  for (size_t s = 0; s < kQ4Subs; ++s) {
    lines[s] = best_q4_line(weights + s * kQ4Sub);
    largest_scale = std::max(largest_scale, lines[s].scale);
    largest_minimum = std::max(largest_minimum, -lines[s].minimum);
  }
  const float scale_factor = finite_quotient(63.0f, largest_scale);
  const float minimum_factor = finite_quotient(63.0f, largest_minimum);
  store_f16(block, largest_scale / 63.0f);
  store_f16(block + 2, largest_minimum / 63.0f);
  for (size_t s = 0; s < kQ4Subs; ++s) {
    const SubScale sub{round_clipped(scale_factor * lines[s].scale, 0, 63),
                       round_clipped(minimum_factor * -lines[s].minimum, 0, 63)};
    put_sub_scale(block + kQ4ScalesAt, s, sub);
    const float step = load_f16(block) * static_cast<float>(sub.scale);
    if (step == 0) continue;
    const float minimum = load_f16(block + 2) * static_cast<float>(sub.minimum);
    for (size_t i = s * kQ4Sub; i < (s + 1) * kQ4Sub; ++i) {
      put_q4_code(block, i, round_clipped((weights[i] + minimum) / step, 0, 15));
    }
  }
}

void decode_q4_k(const uint8_t* block, float* weights) {
  for (size_t s = 0; s < kQ4Subs; ++s) {
    const SubScale sub = get_sub_scale(block + kQ4ScalesAt, s);
    const float step = load_f16(block) * static_cast<float>(sub.scale);
    const float minimum = load_f16(block + 2) * static_cast<float>(sub.minimum);
    for (size_t i = s * kQ4Sub; i < (s + 1) * kQ4Sub; ++i) {
      weights[i] = step * static_cast<float>(get_q4_code(block, i)) - minimum;
    }
  }
}

}  // namespace

std::vector<BlockFormat> k_block_formats() {
  return {
      {.name = "q6_k",
       .columns = kColumns,
       .bytes = kQ6ScaleAt + 2,
       .code_bits = 6,
       // d is about extreme / (32 * 128); 31 leaves room for scales above the plain ones.
       .largest_magnitude = 31 * 128 * kLargestF16,
       .scale_offsets = {kQ6ScaleAt},
       .encode = encode_q6_k,
       .decode = decode_q6_k},
      {.name = "q4_k",
       .columns = kColumns,
       .bytes = kQ4CodesAt + kColumns / 2,
       .code_bits = 4,
       // dmin is about minimum / 63; a fitted minimum may lie beyond all weights, but not twice.
       .largest_magnitude = 31 * kLargestF16,
       .scale_offsets = {0, 2},
       .encode = encode_q4_k,
       .decode = decode_q4_k}};
}

}  // namespace trilobite::quant
