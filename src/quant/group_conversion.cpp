#include "quant/group_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "quant/byte_order.hpp"
#include "quant/rounding.hpp"

namespace trilobite::quant {
namespace {

bool has_finite_scale(const WeightGroup& group) { return std::isfinite(group.scale.to_float()); }

/// The weight of largest magnitude with its sign. NaN and infinity win.
float extreme_of(std::span<const float> weights) {
  float extreme = 0;
  for (const float w : weights) {
    if (!(std::abs(w) <= std::abs(extreme))) extreme = w;
    if (std::isnan(extreme)) return extreme;
  }
  return extreme;
}

/// Codes are chosen for the scale as it is stored, rounded to f16: that loses less than to divide
/// by a scale that nobody will see. All codes are 0 where the scale is not finite.
WeightGroup quantize_group(std::span<const float> weights, GroupBits bits) {
  const int half = half_range(bits);
  WeightGroup group{.scale = Float16::from(extreme_of(weights) / static_cast<float>(-half))};
  if (!has_finite_scale(group)) return group;
  const float factor = finite_quotient(1.0f, group.scale.to_float());
  for (size_t i = 0; i < weights.size(); ++i) {
    group.codes[i] = static_cast<int8_t>(round_clipped(weights[i] * factor, -half, half - 1));
  }
  return group;
}

struct GroupBlock {
  const char* name;
  GroupBits bits;
  size_t bytes;
  /// Codes behind the scale.
  void (*read)(const uint8_t* from, int8_t* codes);
};

/// Byte i holds weight i in its low and weight i + 16 in its high nibble.
constexpr GroupBlock kQ4_0{"q4_0", GroupBits::four, 18, [](const uint8_t* from, int8_t* codes) {
                             for (size_t i = 0; i < kGroupColumns / 2; ++i) {
                               codes[i] = static_cast<int8_t>((from[i] & 15) - 8);
                               codes[i + kGroupColumns / 2] =
                                   static_cast<int8_t>((from[i] >> 4) - 8);
                             }
                           }};
constexpr GroupBlock kQ8_0{"q8_0", GroupBits::eight, 34, [](const uint8_t* from, int8_t* codes) {
                             std::copy_n(from, kGroupColumns, codes);
                           }};

Result<void> check_size(const GroupBlock& block, const QuantizedView& packed) {
  if (packed.cols % kGroupColumns != 0) {
    return fail(fmt::format("the columns of a {} matrix are whole blocks of {}, not {}", block.name,
                            kGroupColumns, packed.cols));
  }
  const auto count = count_elements(packed.rows, packed.cols);
  if (!count) return fail_from(count);
  const size_t bytes = *count / kGroupColumns * block.bytes;
  if (packed.bytes.size() == bytes) return {};
  return fail(fmt::format("a {} matrix of {} x {} has {} bytes, not {}", block.name, packed.rows,
                          packed.cols, bytes, packed.bytes.size()));
}

Result<GroupTiles> from_blocks(const GroupBlock& block, const QuantizedView& packed) {
  if (const auto right = check_size(block, packed); !right) return fail_from(right);
  auto tiles = GroupTiles::create(packed.rows, packed.cols, block.bits);
  if (!tiles) return tiles;
  const uint8_t* from = packed.bytes.data();
  for (size_t row = 0; row < packed.rows; ++row) {
    for (size_t group = 0; group < tiles->groups(); ++group, from += block.bytes) {
      WeightGroup weights{.scale = load_bytes<Float16>(from)};
      if (!has_finite_scale(weights)) {
        return fail(
            fmt::format("the {} block at row {}, column {}: its scale is not a finite number",
                        block.name, row, group * kGroupColumns));
      }
      block.read(from + sizeof(Float16), weights.codes.data());
      tiles->set_group(row, group, weights);
    }
  }
  return tiles;
}

}  // namespace

Result<GroupTiles> quantize_groups(MatrixView weights, GroupBits bits) {
  auto tiles = GroupTiles::create(weights.rows(), weights.cols(), bits);
  if (!tiles) return tiles;
  for (size_t row = 0; row < weights.rows(); ++row) {
    for (size_t column = 0; column < weights.cols(); column += kGroupColumns) {
      const auto values =
          weights.row(row).subspan(column, std::min(kGroupColumns, weights.cols() - column));
      const auto group = quantize_group(values, bits);
      if (!has_finite_scale(group)) {
        return fail(
            fmt::format("row {}, columns from {}: no {}-bit group has a scale for the weight {}",
                        row, column, static_cast<int>(bits), extreme_of(values)));
      }
      tiles->set_group(row, column / kGroupColumns, group);
    }
  }
  return tiles;
}

Result<GroupTiles> group_tiles_from_q4_0(const QuantizedView& packed) {
  return from_blocks(kQ4_0, packed);
}
Result<GroupTiles> group_tiles_from_q8_0(const QuantizedView& packed) {
  return from_blocks(kQ8_0, packed);
}

}  // namespace trilobite::quant
