#include "quant/i2s.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "quant/byte_order.hpp"

namespace trilobite::quant {
namespace {

/// The layouts differ in this alone: how many bytes lie between a code and its neighbour in the
/// same byte. A block is `stride` bytes and 4 * stride weights.
size_t stride_of(I2sLayout layout, size_t cols) {
  switch (layout) {
    case I2sLayout::x86_block128: return 32;
    case I2sLayout::x86_four_rows: return cols;
    case I2sLayout::arm_block64: return 16;
  }
  return 0;
}

constexpr unsigned shift_of(size_t code) { return 6 - 2 * static_cast<unsigned>(code); }

void pack_block(const int8_t* codes, size_t stride, uint8_t* packed) {
  std::fill_n(packed, stride, uint8_t{0});
  for (size_t k = 0; k < 4; ++k) {
    for (size_t i = 0; i < stride; ++i) {
      packed[i] = static_cast<uint8_t>(packed[i] | (codes[k * stride + i] + 1) << shift_of(k));
    }
  }
}

void unpack_block(const uint8_t* packed, size_t stride, int8_t* codes) {
  for (size_t k = 0; k < 4; ++k) {
    for (size_t i = 0; i < stride; ++i) {
      codes[k * stride + i] = static_cast<int8_t>((packed[i] >> shift_of(k) & 3) - 1);
    }
  }
}

}  // namespace

std::string_view name_of(I2sLayout layout) {
  switch (layout) {
    case I2sLayout::x86_block128: return "x86-128";
    case I2sLayout::x86_four_rows: return "x86-four-rows";
    case I2sLayout::arm_block64: return "arm-64";
  }
  return "";
}

Result<void> check_i2s_shape(I2sLayout layout, size_t rows, size_t cols) {
  const bool by_rows = layout == I2sLayout::x86_four_rows;
  const size_t block = by_rows ? 4 : 4 * stride_of(layout, cols);
  if ((by_rows ? rows : cols) % block == 0) return {};
  return fail(fmt::format("I2_S in layout {} needs a multiple of {} {}, not {} x {}",
                          name_of(layout), block, by_rows ? "rows" : "columns", rows, cols));
}

TernaryMatrix quantize_by_sign(MatrixView weights) {
  const auto values = weights.values();
  TernaryMatrix result{.rows = weights.rows(), .cols = weights.cols()};
  result.codes.resize(values.size());
  float largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    largest = std::max(largest, std::abs(values[i]));
    const double value = values[i];
    result.codes[i] = static_cast<int8_t>((value >= kI2sZeroBelow) - (value <= -kI2sZeroBelow));
  }
  result.scales = {largest};
  return result;
}

std::vector<uint8_t> pack_i2s(const TernaryMatrix& ternary, I2sLayout layout) {
  TRILOBITE_CHECK(ternary.scales.size() == 1);
  TRILOBITE_CHECK(check_i2s_shape(layout, ternary.rows, ternary.cols).has_value());
  TRILOBITE_CHECK(std::ranges::all_of(ternary.codes, [](int8_t c) { return c >= -1 && c <= 1; }));
  const size_t code_bytes = ternary.codes.size() / 4;
  const size_t stride = stride_of(layout, ternary.cols);
  std::vector<uint8_t> packed(code_bytes + kI2sTailBytes);
  for (size_t at = 0; at < code_bytes; at += stride) {
    pack_block(ternary.codes.data() + 4 * at, stride, packed.data() + at);
  }
  store_bytes(packed.data() + code_bytes, ternary.scales[0]);
  return packed;
}

Result<float> i2s_scale(I2sLayout layout, const QuantizedView& packed) {
  const auto elements = count_elements(packed.rows, packed.cols);
  if (!elements) return fail_from(elements);
  if (auto fits = check_i2s_shape(layout, packed.rows, packed.cols); !fits) return fail_from(fits);
  const size_t expected = *elements / 4 + kI2sTailBytes;
  if (packed.bytes.size() != expected) {
    return fail(fmt::format("I2_S of {} x {} weights takes {} bytes, there are {}", packed.rows,
                            packed.cols, expected, packed.bytes.size()));
  }
  const auto scale = load_bytes<float>(packed.bytes.data() + *elements / 4);
  if (!std::isfinite(scale) || scale < 0) {
    return fail(fmt::format("the I2_S scale is {}; it must be finite and not negative", scale));
  }
  return scale;
}

void unpack_i2s_row(I2sLayout layout, const QuantizedView& packed, size_t row,
                    std::span<float> codes) {
  const size_t stride = stride_of(layout, packed.cols);
  for (size_t i = 0; i < codes.size(); ++i) {
    const size_t index = row * packed.cols + i;
    const size_t within = index % (4 * stride);
    const auto byte = packed.bytes[index / (4 * stride) * stride + within % stride];
    codes[i] = static_cast<float>(byte >> shift_of(within / stride) & 3) - 1;
  }
}

Result<TernaryMatrix> unpack_i2s(I2sLayout layout, const QuantizedView& packed) {
  const auto scale = i2s_scale(layout, packed);
  if (!scale) return fail_from(scale);
  const size_t elements = packed.rows * packed.cols;
  TernaryMatrix result{.rows = packed.rows, .cols = packed.cols};
  result.codes.resize(elements);
  result.scales = {*scale};
  const size_t stride = stride_of(layout, packed.cols);
  for (size_t at = 0; at < elements / 4; at += stride) {
    unpack_block(packed.bytes.data() + at, stride, result.codes.data() + 4 * at);
  }
  const auto bad = std::ranges::find(result.codes, int8_t{2});
  if (bad == result.codes.end()) return result;
  const auto index = static_cast<size_t>(bad - result.codes.begin());
  return fail(fmt::format("code 3 at row {}, column {}; the codes of I2_S are 0, 1 and 2",
                          index / packed.cols, index % packed.cols));
}

}  // namespace trilobite::quant
