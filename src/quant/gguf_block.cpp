#include "quant/gguf_block.hpp"

#include <fmt/format.h>

#include <cmath>

#include "quant/byte_order.hpp"

namespace trilobite::quant {
namespace {

const char* problem_of(const BlockFormat& format, const uint8_t* block) {
  for (const size_t offset : format.scale_offsets) {
    if (!std::isfinite(load_f16(block + offset))) return "its scale is not a finite number";
  }
  return format.problem != nullptr ? format.problem(block) : nullptr;
}

}  // namespace

void quantize_blocks(const BlockFormat& format, MatrixView weights, std::span<uint8_t> bytes) {
  const auto values = weights.values();
  for (size_t b = 0; b < values.size() / format.columns; ++b) {
    format.encode(values.data() + b * format.columns, bytes.data() + b * format.bytes);
  }
}

Result<void> dequantize_blocks(const BlockFormat& format, const QuantizedView& packed,
                               std::span<float> values) {
  for (size_t b = 0; b < values.size() / format.columns; ++b) {
    const uint8_t* block = packed.bytes.data() + b * format.bytes;
    if (const char* problem = problem_of(format, block); problem != nullptr) {
      const size_t element = b * format.columns;
      return fail(fmt::format("the {} block at row {}, column {}: {}", format.name,
                              element / packed.cols, element % packed.cols, problem));
    }
    format.decode(block, values.data() + b * format.columns);
  }
  return {};
}

}  // namespace trilobite::quant
