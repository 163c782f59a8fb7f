#include "kernels/ternary_scales.hpp"

#include <algorithm>
#include <atomic>

#include "base/float16.hpp"
#include "quant/byte_order.hpp"

namespace trilobite::kernels {
namespace {

constexpr uint16_t kExponent = 0x7C00;  // of f16

float value_of(uint16_t bits) { return Float16{bits}.to_float(); }

}  // namespace

bool TernaryBlockScales::look_at(size_t first, size_t last) {
  bool shared = true;
  for (size_t row = first; row < last; ++row) {
    rows_[row] = scale_of(row);
    shared = shared && rows_[row].shared;
  }
  return shared;
}

bool TernaryBlockScales::are_finite() const { return std::ranges::all_of(rows_, &Row::finite); }
bool TernaryBlockScales::are_shared_in_rows() const {
  return std::ranges::all_of(rows_, &Row::shared);
}

std::vector<float> TernaryBlockScales::joined() const {
  std::optional<uint16_t> joint;
  bool same = true;
  for (size_t r = 0; r < rows_.size() && same; ++r) {
    if (joint == rows_[r].bits || !has_weights(r)) continue;
    same = !joint;
    joint = rows_[r].bits;
  }
  if (same) return {value_of(joint.value_or(rows_[0].bits))};
  std::vector<float> scales;
  for (const auto& row : rows_) scales.push_back(value_of(row.bits));
  return scales;
}

/// Looks at the codes only where the scales differ.
TernaryBlockScales::Row TernaryBlockScales::scale_of(size_t row) const {
  const uint16_t first = bits_of(row, 0);
  Row scale{.bits = first};
  bool same = true;
  for (size_t b = 0; b < blocks_; ++b) {
    const uint16_t bits = bits_of(row, b);
    same = same && bits == first;
    scale.finite = scale.finite && (bits & kExponent) != kExponent;
  }
  if (!same) share_among_weights(row, scale);
  return scale;
}

bool TernaryBlockScales::has_weights(size_t row) const {
  for (size_t b = 0; b < blocks_; ++b) {
    if (block_has_weights(row, b)) return true;
  }
  return false;
}

const uint8_t* TernaryBlockScales::block(size_t row, size_t b) const {
  return packed_.bytes.data() + (row * blocks_ + b) * format_.bytes;
}
uint16_t TernaryBlockScales::bits_of(size_t row, size_t b) const {
  return quant::load_bytes<uint16_t>(block(row, b) + format_.scale_offsets[0]);
}

/// Whether any code is not that of weight 0, whatever the scale.
bool TernaryBlockScales::block_has_weights(size_t row, size_t b) const {
  std::vector<uint8_t> unscaled(block(row, b), block(row, b) + format_.bytes);
  quant::store_f16(unscaled.data() + format_.scale_offsets[0], 1.0f);
  std::vector<float> weights(format_.columns);
  format_.decode(unscaled.data(), weights.data());
  return std::ranges::any_of(weights, [](float w) { return w != 0; });
}

void TernaryBlockScales::share_among_weights(size_t row, Row& scale) const {
  bool found = false;
  for (size_t b = 0; b < blocks_; ++b) {
    if ((found && bits_of(row, b) == scale.bits) || !block_has_weights(row, b)) continue;
    scale.shared = scale.shared && !found;
    if (!found) scale.bits = bits_of(row, b);
    found = true;
  }
}

bool has_code_3(std::span<const uint8_t> bytes) {
  uint64_t both_bits = 0;
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    const auto word = quant::load_bytes<uint64_t>(bytes.data() + i);
    both_bits |= word & word >> 1;
  }
  for (; i < bytes.size(); ++i) both_bits |= uint64_t{bytes[i]} & uint64_t{bytes[i]} >> 1;
  return (both_bits & 0x5555555555555555) != 0;
}

Result<std::optional<std::vector<float>>> scales_of_tq2(const quant::QuantizedView& packed,
                                                        ThreadPool& pool) {
  const auto& format = quant::block_format("tq2_0");
  if (const auto right = check_block_bytes(format, packed); !right) return fail_from(right);
  TernaryBlockScales scales(format, packed);
  const size_t row_bytes = packed.cols / format.columns * format.bytes;
  std::atomic<bool> right = true;
  pool.for_range(packed.rows, 16, [&](size_t first, size_t last) {
    scales.look_at(first, last);
    for (size_t at = first * row_bytes; at < last * row_bytes; at += format.bytes) {
      if (has_code_3(packed.bytes.subspan(at, format.scale_offsets[0]))) right = false;
    }
  });
  if (!right || !scales.are_finite()) return fail_from(check_blocks(format, packed));
  if (!scales.are_shared_in_rows()) return std::nullopt;
  return scales.joined();
}

}  // namespace trilobite::kernels
