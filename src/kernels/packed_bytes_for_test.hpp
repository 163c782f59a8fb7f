#pragma once
// Packed tensors for the tests that turn them into tiles: bytes at an odd address, as a mapped file
// may have them, and nothing readable behind them that a sanitizer would not notice.

#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "quant/byte_order.hpp"
#include "quant/gguf_block.hpp"

namespace trilobite::kernels::fixtures {

/// A matrix in some packed form.
class PackedBytes {
 public:
  PackedBytes(size_t rows, size_t cols, size_t bytes)
      : rows_(rows), cols_(cols), data_(bytes + 1) {}
  quant::QuantizedView view() const {
    return {.rows = rows_, .cols = cols_, .bytes = std::span(data_).subspan(1)};
  }
  uint8_t* data() { return data_.data() + 1; }
  size_t size() const { return data_.size() - 1; }

 private:
  size_t rows_;
  size_t cols_;
  std::vector<uint8_t> data_;
};

/// Random bytes, so every code there is, with the given f16 scales in turn.
inline PackedBytes random_blocks(const quant::BlockFormat& format, size_t rows, size_t cols,
                                 const std::vector<float>& scales) {
  const size_t blocks = rows * cols / format.columns;
  PackedBytes packed(rows, cols, blocks * format.bytes);
  Rng rng(9);
  for (size_t i = 0; i < packed.size(); ++i) {
    uint32_t byte = rng.next_u32();
    // A pair of bits that are both set is no ternary code.
    if (format.problem != nullptr) byte &= 0xAAu | (~byte >> 1 & 0x55u);
    packed.data()[i] = static_cast<uint8_t>(byte);
  }
  size_t next = 0;
  for (size_t b = 0; b < blocks; ++b) {
    for (const size_t offset : format.scale_offsets) {
      quant::store_f16(packed.data() + b * format.bytes + offset, scales[next++ % scales.size()]);
    }
  }
  return packed;
}

/// Scales of either sign, zero and subnormal among them.
inline const std::vector<float> kAnyScales{1.0f, -0.37f, 0.0f, -0.0f, 0x1p-24f, 65504.0f, 0.01f};

inline std::vector<float> decoded(const quant::BlockFormat& format,
                                  const quant::QuantizedView& packed) {
  std::vector<float> values(packed.rows * packed.cols);
  TRILOBITE_CHECK(dequantize_blocks(format, packed, values).has_value());
  return values;
}

}  // namespace trilobite::kernels::fixtures
