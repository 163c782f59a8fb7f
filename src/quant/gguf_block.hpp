#pragma once
// The block formats of GGUF files. A row is a sequence of blocks; a block holds a fixed number of
// neighbouring weights with their f16 scales. docs/formats/gguf-blocks.md has every byte.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "quant/matrix.hpp"

namespace trilobite::quant {

struct BlockFormat {
  std::string_view name;  // "q4_0"
  size_t columns;         // weights of a block
  size_t bytes;           // of a block
  unsigned code_bits;     // of one weight, to whole bits
  /// Weights beyond this may overflow an f16 scale.
  float largest_magnitude;
  std::vector<size_t> scale_offsets;  // where in a block its f16 scales are
  void (*encode)(const float* weights, uint8_t* block);
  void (*decode)(const uint8_t* block, float* weights);
  /// What is wrong with the codes of a block; nullptr: nothing. Absent where every code is valid.
  const char* (*problem)(const uint8_t* block) = nullptr;
};

/// Round-to-nearest blocks of 32: q8_0, q4_0, q4_1.
std::vector<BlockFormat> simple_block_formats();
/// Super-blocks of 256 with quantised scales: q4_k, q6_k.
std::vector<BlockFormat> k_block_formats();
/// Ternary blocks of 256: tq1_0, tq2_0.
std::vector<BlockFormat> ternary_block_formats();

/// Of any of the three lists, by its name, which must be in one.
const BlockFormat& block_format(std::string_view name);

/// Whether a matrix of this shape is whole blocks and has as many bytes as that takes.
Result<void> check_block_bytes(const BlockFormat& format, const QuantizedView& packed);
/// Whether every scale is finite and every code means something. The sizes must be right.
Result<void> check_blocks(const BlockFormat& format, const QuantizedView& packed);

/// All blocks of a matrix whose columns are whole blocks and whose weights are within bounds.
void quantize_blocks(const BlockFormat& format, MatrixView weights, std::span<uint8_t> bytes);

/// The sizes must be right. A scale that is not finite and a code that means nothing are errors.
Result<void> dequantize_blocks(const BlockFormat& format, const QuantizedView& packed,
                               std::span<float> values);

}  // namespace trilobite::quant
