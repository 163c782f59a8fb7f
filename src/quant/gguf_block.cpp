#include "quant/gguf_block.hpp"

#include <fmt/format.h>

#include <algorithm>
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

Result<void> check_block(const BlockFormat& format, const QuantizedView& packed, size_t index) {
  const char* problem = problem_of(format, packed.bytes.data() + index * format.bytes);
  if (problem == nullptr) return {};
  const size_t element = index * format.columns;
  return fail(fmt::format("the {} block at row {}, column {}: {}", format.name,
                          element / packed.cols, element % packed.cols, problem));
}

std::vector<BlockFormat> all_block_formats() {
  auto formats = simple_block_formats();
  for (const auto& more : {k_block_formats(), ternary_block_formats()}) {
    formats.insert(formats.end(), more.begin(), more.end());
  }
  return formats;
}

}  // namespace

const BlockFormat& block_format(std::string_view name) {
  static const auto formats = all_block_formats();
  const auto found = std::ranges::find(formats, name, &BlockFormat::name);
  TRILOBITE_CHECK(found != formats.end());
  return *found;
}

Result<void> check_block_bytes(const BlockFormat& format, const QuantizedView& packed) {
  const auto count = count_elements(packed.rows, packed.cols);
  if (!count) return fail_from(count);
  if (packed.cols % format.columns != 0) {
    return fail(fmt::format("the columns of a {} matrix are whole blocks of {}, not {}",
                            format.name, format.columns, packed.cols));
  }
  const size_t bytes = *count / format.columns * format.bytes;
  if (packed.bytes.size() == bytes) return {};
  return fail(fmt::format("a {} matrix of {} x {} has {} bytes, not {}", format.name, packed.rows,
                          packed.cols, bytes, packed.bytes.size()));
}

Result<void> check_blocks(const BlockFormat& format, const QuantizedView& packed) {
  for (size_t b = 0; b < packed.rows * packed.cols / format.columns; ++b) {
    if (auto right = check_block(format, packed, b); !right) return right;
  }
  return {};
}

void quantize_blocks(const BlockFormat& format, MatrixView weights, std::span<uint8_t> bytes) {
  const auto values = weights.values();
  for (size_t b = 0; b < values.size() / format.columns; ++b) {
    format.encode(values.data() + b * format.columns, bytes.data() + b * format.bytes);
  }
}

Result<void> dequantize_blocks(const BlockFormat& format, const QuantizedView& packed,
                               std::span<float> values) {
  for (size_t b = 0; b < values.size() / format.columns; ++b) {
    if (auto right = check_block(format, packed, b); !right) return right;
    format.decode(packed.bytes.data() + b * format.bytes, values.data() + b * format.columns);
  }
  return {};
}

}  // namespace trilobite::quant
