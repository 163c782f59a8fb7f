#pragma once
// Products with weights as they lie in a model file, row after row: nothing is copied when a model
// is loaded. For one token or a few; for many, rows become tiles on the way (stored_weights.hpp).
// The results have the same bits as those of the tiles.

#include <cstddef>
#include <cstdint>

#include "kernels/group_product.hpp"
#include "kernels/ternary_product.hpp"

namespace trilobite::kernels {

/// Formats whose rows can be read where they are. docs/formats/gguf-blocks.md, docs/formats/i2_s.md
enum class StoredFormat { tq2_0, i2s_block128, q4_0, q8_0, q6_k };

/// Whether a row has one scale and its activations one per token, or both have one per group.
constexpr bool is_ternary(StoredFormat format) {
  return format == StoredFormat::tq2_0 || format == StoredFormat::i2s_block128;
}
constexpr size_t block_columns(StoredFormat format) {
  switch (format) {
    case StoredFormat::tq2_0:
    case StoredFormat::q6_k: return 256;
    case StoredFormat::i2s_block128: return 128;
    case StoredFormat::q4_0:
    case StoredFormat::q8_0: break;
  }
  return 32;
}
constexpr size_t block_bytes(StoredFormat format) {
  switch (format) {
    case StoredFormat::tq2_0: return 66;
    case StoredFormat::i2s_block128: return 32;
    case StoredFormat::q4_0: return 18;
    case StoredFormat::q8_0: return 34;
    case StoredFormat::q6_k: break;
  }
  return 210;
}

/// Whole blocks, of which somebody else is the owner; no alignment is needed.
struct StoredRows {
  StoredFormat format;
  const uint8_t* data;
  size_t rows;
  size_t columns;

  size_t row_bytes() const { return columns / block_columns(format) * block_bytes(format); }
};

/// TernaryCall without tiles.
struct StoredTernaryCall {
  StoredRows weights;
  Int8Rows x;
  const float* row_scales = nullptr;  // [rows]; null: `scale` for all
  float scale = 1.0f;
  float* out = nullptr;
  size_t out_stride = 0;
};
/// GroupCall (and BlockCall for q6_k) without tiles.
struct StoredGroupCall {
  StoredRows weights;
  Int8Groups x;
  float* out = nullptr;
  size_t out_stride = 0;
};

/// Rows [first, last) for all tokens. Rows are independent of each other.
void stored_ternary_product(const StoredTernaryCall& call, size_t first, size_t last);
void stored_group_product(const StoredGroupCall& call, size_t first, size_t last);

}  // namespace trilobite::kernels
