#pragma once
// Weights of q4_1, q4_k and q6_k, exactly as files have them, times int8 activations in groups: the
// same product as group_product for formats whose groups have more than one scale.

#include "kernels/group_product.hpp"
#include "quant/block_tiles.hpp"

namespace trilobite::kernels {

/// out[token][row] = sum over groups of 32 columns of
///   q4_1: (sum of q x) * d * e + m * (X * e)
///   q4_k: (sum of q x) * (d s) * e - (dmin m) * (X * e)
///   q6_k: (sum of s (q - 32) x) * d * e
/// with x the codes of the activations, X their sum, e their scale, and the weights' numbers as
/// docs/formats/gguf-blocks.md has them. Sums of codes are exact; what follows is f32 in the order
/// written, group after group: the result has the same bits everywhere.
struct BlockCall {
  const quant::BlockTiles& weights;
  Int8Groups x;  // with half_sums for q6_k
  float* out = nullptr;
  size_t out_stride = 0;
};

/// Computes the rows of panels [first, last) for all tokens. Panels are independent: threads may
/// share them out in any way, and the result does not depend on it.
void block_product(const BlockCall& call, size_t first_panel, size_t last_panel);

}  // namespace trilobite::kernels
